import { expect, test } from 'vitest'
import { buildReport } from './report.ts'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

test('tells version, health, examination and discovery, and nothing of who the network is', () => {
  const report = buildReport({
    version: { Version: '0.1.0', Api: 1, Protocols: [] },
    health: {
      Status: 'warning',
      Ownership: 'enforce',
      Problems: [
        { Code: 'x.y', Severity: 'warning', Title: 'nas is slow', Hint: 'Look at nas.', Since: null },
      ],
    },
    checks: [{ Name: 'clock', Verdict: 'ok', Found: 'The clock is right', Next: null }],
    reachability: {
      Addresses: [`/ip4/198.51.100.7/tcp/4001/p2p/${ID}`],
      Ways: [{ Name: 'mdns', Enabled: true, Found: 2, LastError: null }],
      Clock: { AheadMs: 12, Members: 2 },
    },
    names: ['nas'],
  })
  expect(report).toBe(
    [
      'mesh 0.1.0',
      '',
      'Health: warning',
      '- warning x.y: [name] is slow. Look at [name].',
      '',
      'Examination',
      '- ok clock: The clock is right',
      '',
      'Discovery',
      '- mdns, on, found 2',
      '',
      'Addresses',
      '- /ip4/[address]/tcp/4001/p2p/…dBfeSB',
      '',
      'Clock',
      '- 12 ms ahead of 2 members',
    ].join('\n'),
  )
})

test('what is not known is left out', () => {
  const unknown = { version: undefined, health: undefined, checks: undefined, reachability: undefined }
  expect(buildReport({ ...unknown, names: [] })).toBe('mesh of unknown version')
})

import { expect, test } from 'vitest'
import { formatLevels } from './node/log-level.ts'
import { formatMachines } from './node/machines.ts'

const machine = {
  PeerID: '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
  Hostname: 'nas',
  OS: 'linux',
  Arch: 'amd64',
  Address: '10.1.0.11',
  Addresses: ['10.1.0.11', 'fd00::11'],
  Version: '0.1.0',
  Connected: false,
  OnChain: false,
  Online: true,
}

test('machines are listed with their state, also where this node has no VPN', () => {
  const [head = '', row = ''] = formatMachines([{ ...machine, Vpn: null }]).split('\n')
  expect(head.split(/ {2,}/)).toEqual([
    'ADDRESS',
    'NAME',
    'PEER',
    'STATE',
    'SYSTEM',
    'VERSION',
    'WAY',
    'ROUND TRIP',
  ])
  expect(row).toMatch(/^10\.1\.0\.11 fd00::11 {2}nas +\S+ +online +linux\/amd64 +0\.1\.0 +- +-$/)
  expect(formatMachines([])).toContain('no machine yet')
})

test('levels are listed with whether they outlive the node', () => {
  const view = { Level: 'info,p2p=debug', Kept: true, Subsystems: [{ Name: 'p2p', Level: 'debug' as const }] }
  expect(formatLevels(view)).toBe(
    'info,p2p=debug, kept over restarts\n\nSUBSYSTEM  LEVEL\np2p        debug\n',
  )
  expect(formatLevels({ ...view, Kept: false })).toContain('until the node ends')
})

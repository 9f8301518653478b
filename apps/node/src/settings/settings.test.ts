import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findNearest, MeshError } from '@mesh/core'
import { defaultLedgerLimits } from '@mesh/ledger'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { networkSettings, replicationSettings } from '../compose/join-network.ts'
import { readArguments } from './given.ts'
import { loadSettings } from './load-settings.ts'
import { flagOf, optionNames, optionOf, variableOf } from './options.ts'
import { parseOfferedRoute, parseStaticPeer, valuesOf } from './vpn-values.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'mesh-settings-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function load(words: string, environment: Record<string, string> = {}, workingDirectory = home) {
  const [command = '', ...args] = words.split(' ').filter((word) => word !== '')
  return loadSettings(command, readArguments(command, args), {
    environment: { HOME: home, ...environment },
    workingDirectory,
  })
}

/** The same for `mesh` without a command. */
function loadVpn(words: string, environment: Record<string, string> = {}) {
  const args = words.split(' ').filter((word) => word !== '')
  return loadSettings('', readArguments('', args), {
    environment: { HOME: home, ...environment },
    workingDirectory: home,
  })
}

function refusal(run: () => unknown): MeshError {
  try {
    run()
  } catch (error) {
    if (error instanceof MeshError) return error
    throw error
  }
  return expect.unreachable('was not refused')
}

const writeDefaults = (content: string) => {
  mkdirSync(join(home, '.config/mesh'), { recursive: true })
  writeFileSync(join(home, '.config/mesh/defaults'), content)
}

describe('where a value comes from', () => {
  test('a flag beats the environment, which beats the file of defaults, which beats what is built in', () => {
    expect(load('api').settings.listen).toBe('127.0.0.1:8080')
    writeDefaults('# ours\nlisten = :1\nprivate\n')
    expect(load('api')).toMatchObject({
      settings: { listen: ':1', private: true },
      sources: { listen: { level: 'file', place: join(home, '.config/mesh/defaults:2') } },
    })
    expect(load('api', { MESHLISTEN: ':2' })).toMatchObject({
      settings: { listen: ':2' },
      sources: { listen: { level: 'environment', place: 'MESHLISTEN' } },
    })
    expect(load('api --listen :3', { MESHLISTEN: ':2' })).toMatchObject({
      settings: { listen: ':3' },
      sources: { listen: { level: 'flag', place: '--listen' }, mdns: { level: 'default' } },
    })
  })

  test('an empty variable counts as unset', () => {
    expect(load('api', { MESHLISTEN: '' }).sources.listen.level).toBe('default')
  })

  test("a higher level's network replaces a lower one's, in whatever form", () => {
    writeDefaults('token-file = other.token')
    const { settings } = load('api --config net.yaml', { MESHTOKEN: 'abc' })
    expect(settings).toMatchObject({ config: join(home, 'net.yaml'), token: undefined, tokenFile: undefined })
  })

  test.each([
    ['api --token a --config b', {}, '--token and --config'],
    ['api', { MESHTOKEN: 'a', MESHTOKENFILE: 'b' }, 'MESHTOKEN and MESHTOKENFILE'],
  ])('refuses a network given twice on one level, naming both: %s', (words, environment, both) => {
    const error = refusal(() => load(words, environment))
    expect(error.code).toBe('node.network_twice')
    expect(error.message).toContain(both)
  })

  test('flags keep their order, so that records belong to the pattern before them', () => {
    const words = ['--regex=one', '--a=10.9.0.1', '--regex=two', '--a=10.9.0.2']
    const { given } = readArguments('dns', words)
    expect(given.map(({ name, texts }) => `${name} ${texts.join()}`)).toEqual([
      'regex one',
      'a 10.9.0.1',
      'regex two',
      'a 10.9.0.2',
    ])
  })

  test('repeated flags and commas make one list, and replace the list of a lower level', () => {
    const { settings } = load('api --api-allowed-host a,b --api-allowed-host c', { MESHAPIALLOWEDHOST: 'd' })
    expect(settings.apiAllowedHost).toEqual(['a', 'b', 'c'])
    expect(load('api', { MESHAPIALLOWEDHOST: 'd, e' }).settings.apiAllowedHost).toEqual(['d', 'e'])
  })
})

describe('relative paths', () => {
  const script = { npm_package_json: '/repo/apps/node/package.json', INIT_CWD: '/srv' }
  test('count from where the person stands, also when a package manager runs the script elsewhere', () => {
    expect(load('api --config a.yaml', script, '/repo/apps/node').settings.config).toBe('/srv/a.yaml')
  })
  test('count from the working directory in a shell that a script has started', () => {
    expect(load('api --config a.yaml', script, '/elsewhere').settings.config).toBe('/elsewhere/a.yaml')
  })
})

describe('switches', () => {
  test.each([
    ['--mdns', true],
    ['--mdns=true', true],
    ['--mdns=false', false],
    ['--mdns=off', false],
    ['--no-mdns', false],
  ])('%s is %s', (flag, expected) => {
    expect(load(`api ${flag}`).settings.mdns).toBe(expected)
  })
})

describe('durations', () => {
  test.each([
    ['90', 90_000],
    ['90s', 90_000],
    ['2m', 120_000],
  ])('%s is %d ms', (text, ms) => {
    expect(load(`api --ownership-ttl ${text} --aliveness-healthcheck-interval 5`).settings.ownershipTtl).toBe(
      ms,
    )
  })
})

describe('what is wrong is refused by name', () => {
  test.each([
    ['api --lissten :1', {}, '--lissten', 'did you mean --listen?'],
    ['api --mdsn=false', {}, '--mdsn', 'did you mean --mdns?'],
    ['api --wait 5s', {}, '--wait', 'not an option of `mesh api` but of `mesh ledger put`'],
    ['api --mtu 1300', {}, '--mtu', 'not an option of `mesh api` but of `mesh`'],
    ['token show --state-dir x', {}, '--state-dir', /but of `mesh`, `mesh api`, `mesh start` and \d+ others/],
    ['api --dns 127.0.0.1:x', {}, '--dns', 'ADDRESS:PORT like 127.0.0.1:5353'],
    ['api --dns-configure', {}, '--dns-configure', 'only together with --dns'],
    ['api --lease-dir x', {}, '--lease-dir', 'here it is `--state-dir`'],
    ['api --listen', {}, '--listen', 'needs a value: --listen ADDRESS'],
    ['api --listen --debug', {}, '--listen', 'needs a value'],
    ['api --no-mdns=true', {}, '--no-mdns', 'takes no value'],
    ['api --mdns=maybe', {}, '--mdns', 'expected true or false, got "maybe"'],
    ['api --ownership strict', {}, '--ownership', 'one of enforce, observe, off'],
    ['api --instance ../up', {}, '--instance', 'letters, digits'],
    ['api --ownership-ttl soon', {}, '--ownership-ttl', 'a duration like 30s'],
    ['api --discovery-bootstrap-peers 10.0.0.1', {}, '--discovery-bootstrap-peers', 'multiaddr'],
    ['api --api-cors example.org', {}, '--api-cors', 'https://example.org'],
    ['api', { MESHLISTN: ':1' }, 'MESHLISTN', 'did you mean MESHLISTEN?'],
    ['api --ownership-ttl 100s', {}, '--ownership-ttl', 'at least four heartbeats'],
    ['api', { MESHALIVENESSHEALTHCHECKINTERVAL: '200' }, 'MESHALIVENESSHEALTHCHECKINTERVAL', '4 × 200s'],
    ['api --ephemeral --ledger-state x', {}, '--ledger-state', 'contradicts --ephemeral'],
    ['api --private --natmap', {}, '--natmap', 'contradicts --private'],
  ] as const)('%s %o', (words, environment, name, expected) => {
    const error = refusal(() => load(words, environment))
    expect(error.code).toBe('node.bad_input')
    expect(error.message).toContain(name)
    expect(error.message).toMatch(expected)
  })

  test('all of it in one answer', () => {
    const error = refusal(() => load('api --ownership strict --mdns=maybe'))
    expect(error.issues.map(({ field }) => field)).toEqual(['--mdns', '--ownership'])
  })

  test('a secret is never repeated', () => {
    const error = refusal(() => load('api --token= --ownership strict'))
    expect(JSON.stringify(error.issues)).toContain('*** (0 characters)')
  })

  test("another program's variable is no concern of ours", () => {
    expect(load('api', { MESHLAB: '1', MESH_PORT: '2' }).settings.listen).toBe('127.0.0.1:8080')
  })

  test.each([
    ['listne = :1', ':1', 'did you mean listen?'],
    ['listen', ':1', 'listen needs a value'],
    ['x\nsome words', ':1', 'unknown option "x"'],
    ['json', ':1', 'unknown option "json"'],
  ])('in the file of defaults: %j', (content, place, expected) => {
    writeDefaults(content)
    const error = refusal(() => load('api'))
    expect(error.message).toContain(`defaults${place}`)
    expect(error.message).toContain(expected)
  })

  test('a file of defaults that was asked for must be there', () => {
    expect(refusal(() => load('api --defaults none')).code).toBe('node.unreadable')
  })
})

describe('of the VPN', () => {
  const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
  const OTHER = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'

  test.each([
    '',
    '--address 10.1.0.11/24',
    '--address 10.1.0.11/24,fd12::1/64 --address 10.2.0.1/31',
    '--dhcp',
    '--dhcp --address 10.77.0.0/28',
    '--mtu 9000 --interface mesh1 --api --api-listen unix://x.sock --api-cors https://example.org',
    `--router 10.1.0.1 --static-peertable 10.1.0.2:${PEER},[fd00::2]:${PEER}`,
    `--advertise-route 192.168.7.0/24,0.0.0.0/0 --accept-routes --accept-routes-from ${PEER}`,
  ])('takes %j', (words) => {
    expect(loadVpn(words).settings.interface).toMatch(/^mesh[01]$/)
  })

  test.each([
    ['--address 10.1.0.11', '--address', 'like 10.1.0.11/24'],
    ['--address 224.0.0.5/24', '--address', 'multicast'],
    ['--address 127.0.0.1/8', '--address', 'loopback'],
    ['--address fe80::1/64', '--address', 'link-local'],
    ['--address 10.1.0.0/24', '--address', '10.1.0.0 is the network itself, 10.1.0.0/24; --dhcp'],
    ['--address 10.1.0.255/24', '--address', 'for broadcasts in 10.1.0.0/24'],
    ['--address fd12::/64', '--address', 'the network itself, fd12::/64'],
    ['--address 10.9.0.1/32', '--address', 'like 10.9.0.1/24: with /32 no other machine is in it'],
    ['--dhcp --address 10.9.0.1/32', '--address', 'like 10.9.0.1/24'],
    ['--address 10.9.0.1/24,fd12::1/128', '--address', 'like fd12::1/64: with /128'],
    ['--address 10.1.0.1/24,10.1.0.1/16', '--address', '10.1.0.1 is there twice'],
    ['--dhcp --address 10.1.0.1/24,10.2.0.1/24', '--address', 'one IPv4 range to lease in with --dhcp'],
    ['--dhcp --address fd12::1/64', '--address', 'one IPv4 range'],
    ['--interface a/b', '--interface', '1 to 15 characters'],
    ['--interface sixteencharacter', '--interface', '1 to 15 characters'],
    ['--mtu 575', '--mtu', 'from 576 to 9000'],
    ['--router 10.1.0.1/24', '--router', 'without a length'],
    ['--router 10.1.0.1 --address 10.1.0.1/24', '--router', "10.1.0.1 is this one's"],
    ['--static-peertable 10.1.0.2', '--static-peertable', '10.1.0.12:12D3KooW'],
    [`--static-peertable fd00::2:${PEER}`, '--static-peertable', '[fd00::2]'],
    [`--static-peertable 10.1.0.2:${PEER},10.1.0.2:${OTHER}`, '--static-peertable', '10.1.0.2 has two'],
    ['--advertise-route 192.168.7.5/24', '--advertise-route', 'without the bits of a host: 192.168.7.0/24'],
    ['--advertise-route 239.0.0.0/8', '--advertise-route', 'multicast'],
    [
      '--advertise-route 10.1.0.128/25 --address 10.1.0.1/24',
      '--advertise-route',
      '10.1.0.128/25 lies in 10.1.0.0/24',
    ],
    ['--accept-routes-from me', '--accept-routes-from', '12D3KooW'],
    ['--api-listen :1', '--api-listen', 'only together with --api'],
    ['--api-cors https://example.org', '--api-cors', 'only together with --api'],
    ['--listen :1', '--listen', 'not an option of `mesh` but of `mesh api`'],
    ['--key-otp-interval 30', '--key-otp-interval', 'only together with --generate'],
  ])('%s is refused by name', (words, name, expected) => {
    const error = refusal(() => loadVpn(words))
    expect(error.code).toBe('node.bad_input')
    expect(error.message).toContain(name)
    expect(error.message).toContain(expected)
  })

  test('what is set for other calls waits in the environment and the file of defaults', () => {
    writeDefaults('api-listen = :1\nkey-otp-interval = 30\n')
    expect(loadVpn('', { MESHAPICORS: 'https://example.org' }).settings.api).toBe(false)
  })

  test('for a node without the interface, addresses are ranges', () => {
    expect(load('api --address 10.1.0.0/24,10.2.0.0/16').settings.address).toHaveLength(2)
    expect(networkSettings(load('api --address 10.9.0.7/16').settings).blockedRanges).toEqual(['10.9.0.0/16'])
    expect(networkSettings(load('api').settings).blockedRanges).toEqual(['10.1.0.0/24'])
  })

  test('`mesh config` shows what `mesh` would run with', () => {
    expect(load('config --mtu 1400 --api-listen :1 --listen :2').settings).toMatchObject({
      mtu: 1400,
      apiListen: ':1',
      listen: ':2',
    })
    expect(refusal(() => load('config --address 10.1.0.0/24')).message).toContain('--dhcp')
  })

  test('texts become addresses', () => {
    expect(parseStaticPeer(`[fd00:0::2]:${PEER}`)).toEqual({ value: { address: 'fd00::2', peer: PEER } })
    expect(valuesOf(['10.1.0.0/16', '::/0,metric=10'], parseOfferedRoute)).toEqual([
      { range: '10.1.0.0/16', metric: 0 },
      { range: '::/0', metric: 10 },
    ])
  })
})

test('every option has its own flag, variable and help', () => {
  expect(new Set(optionNames.map(flagOf)).size).toBe(optionNames.length)
  for (const name of optionNames) {
    expect(flagOf(name)).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(optionOf(name).help).toMatch(/^[A-Z].*\.$/s)
    expect(optionOf(name).commands.length).toBeGreaterThan(0)
  }
  expect(flagOf('apiAllowedHost')).toBe('api-allowed-host')
  expect(variableOf('apiAllowedHost')).toBe('MESHAPIALLOWEDHOST')
})

test('finds the word that was meant', () => {
  expect(findNearest('lsiten', ['listen', 'mdns'])).toBe('listen')
  expect(findNearest('zzzzzz', ['listen', 'mdns'])).toBeUndefined()
})

test("the ledger's limits are its own defaults", () => {
  const { settings } = load('api')
  expect({
    maxEntries: settings.ledgerMaxEntries,
    maxBytes: settings.ledgerMaxBytes,
    maxSignerEntries: settings.ledgerMaxSignerEntries,
    maxSignerBytes: settings.ledgerMaxSignerBytes,
    maxUnsignedEntries: settings.ledgerMaxUnsignedEntries,
    maxUnsignedBytes: settings.ledgerMaxUnsignedBytes,
  }).toEqual({ ...defaultLedgerLimits, maxRememberedTombstones: undefined })
})

test('what relaying may cost is told to the host, and its own defaults otherwise', () => {
  const words =
    'api --relay-service-max-data 5MB --relay-service-max-duration 90s --relay-service-max-circuits 3 --relay-service-reservation-ttl 10m'
  expect(networkSettings(load(words).settings).relayLimits).toEqual({
    maxBytes: 5_000_000,
    maxDurationMs: 90_000,
    maxCircuitsPerPeer: 3,
    reservationMs: 600_000,
  })
  expect(networkSettings(load('api').settings).relayLimits).toEqual({
    maxBytes: 2 ** 30,
    maxDurationMs: 1_800_000,
    maxCircuitsPerPeer: 64,
    reservationMs: 3_600_000,
  })
})

test('times of heartbeats and reaping are told to replication', () => {
  const words = 'api --aliveness-healthcheck-interval 30s --ownership-ttl 200s'
  expect(replicationSettings(load(`${words} --aliveness-healthcheck-scrub-interval 45`).settings)).toEqual({
    heartbeatIntervalMs: 30_000,
    livenessMs: 200_000,
    scrubIntervalMs: 45_000,
    maxLedgerEntries: 200_000,
  })
  const larger = load('api --ledger-max-entries 300000').settings
  expect(replicationSettings(larger).maxLedgerEntries).toBe(300_000)
  expect(replicationSettings(load('api').settings).scrubIntervalMs).toBe(600_000)
})

test('the time between two looks into the DHT is told to the host', () => {
  expect(networkSettings(load('api --discovery-interval 60').settings).rendezvousIntervalMs).toBe(60_000)
  expect(networkSettings(load('api').settings).rendezvousIntervalMs).toBe(720_000)
})

test('a text that is no word at all is compared with nothing', () => {
  const began = performance.now()
  for (let turn = 0; turn < 100; turn++)
    expect(findNearest('x'.repeat(65_536), ['listen', 'token'])).toBeUndefined()
  // comparing letter by letter takes a hundred times as long
  expect(performance.now() - began).toBeLessThan(2_000)
})

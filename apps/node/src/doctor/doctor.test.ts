import type { PeerView, RulesView, VpnPeerView, VpnView } from '@mesh/api-contract'
import { expect, test } from 'vitest'
import { formatChecks } from '../cli/node/doctor.ts'
import { examine } from './examine.ts'
import type { MachineFacts, NodeFacts } from './facts.ts'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const works = { works: true } as const
const broken = (reason: string) => ({ works: false, reason }) as const

const machine: MachineFacts = {
  version: '0.1.0',
  wireguard: 'engine',
  support: { supported: true },
  network: { id: 'a3aef9821d7c70a7dfd6' },
  exposedToken: undefined,
  stateDir: { path: '/var/lib/mesh', writing: works },
  ports: { tcp: works, udp: works },
  places: [{ option: '--listen', isDefault: true, tried: works }],
  interfaces: [{ name: 'eth0', mtu: 1500 }],
  hasIpv6: true,
  addresses: ['127.0.0.1', '10.0.0.5'],
  ownName: works,
  exit: undefined,
  nameServers: [{ address: '192.0.2.53', tried: works }],
  maxFiles: 524_288,
}

const node: NodeFacts = {
  node: {
    Name: 'nas',
    PeerID: 'self',
    Network: 'a3aef9821d7c70a7dfd6',
    Instance: 'node',
    Listen: [],
    Version: '0.1.0',
    StartedAt: '2026-01-01T00:00:00Z',
    UptimeSeconds: 9,
    HasVpn: true,
    Ownership: 'enforce',
  },
  health: { Status: 'ok', Ownership: 'enforce', Problems: [] },
  peers: [peer({})],
  machines: [],
  reachability: {
    Addresses: ['/ip4/10.0.0.5/tcp/4001/p2p/a', '/ip4/9.9.9.9/tcp/4001/p2p/a'],
    Ways: [{ Name: 'relay', Enabled: true, Found: null, LastError: null }],
    Clock: { AheadMs: 400, Members: 3 },
  },
  vpn: vpn([]),
  dns: undefined,
  rules: undefined,
  answering: [{ address: '10.0.0.5:4001', tried: works }],
}

/** A node whose own rules refused these, two flows of each. */
function ruled(refused: readonly string[]): RulesView {
  const policy = { default: 'refuse', groups: {}, tags: {}, allow: [], tests: [] } as const
  return {
    Network: null,
    Own: { File: '/etc/mesh/rules.yaml', Policy: { ...policy, allow: [], tests: [] }, Text: '' },
    CanSign: false,
    Table: [],
    More: false,
    Refused: refused.map((On, at) => ({
      From: { Word: 'web', Name: 'web-1' },
      To: { Word: 'db', Name: 'db-1' },
      On,
      Count: 2,
      LastAt: `2026-01-01T00:00:0${at}Z`,
    })),
  }
}

function peer(over: Partial<PeerView>): PeerView {
  return {
    ID,
    Name: 'laptop',
    Connected: true,
    Member: true,
    Path: 'direct',
    Relay: null,
    FoundBy: [],
    Transport: 'tcp',
    Addresses: [],
    RoundTripMs: 1,
    LastSeen: null,
    LastError: null,
    Reach: null,
    Agent: 'mesh/0.1.0',
    UDP: null,
    TotalIn: 0,
    TotalOut: 0,
    RateIn: 0,
    RateOut: 0,
    ...over,
  }
}

function vpn(reasons: readonly VpnPeerView['UDP']['Reason'][], mtu = 1_280): VpnView {
  const peers = reasons.map((Reason) => ({
    PeerID: ID,
    Hostname: 'laptop',
    UDP: { State: Reason === null ? 'direct' : 'none', Reason, Endpoint: null, RoundTripMs: null },
    MTU: mtu,
    PacketsIn: 400,
    PacketsOut: 600,
  }))
  return { State: 'running', MTU: 1_420, Peers: peers, Drops: { multicast: 5_000 } } as unknown as VpnView
}

/** The findings of one check. */
function findings(name: string, over: { machine?: Partial<MachineFacts>; node?: Partial<NodeFacts> | null }) {
  const facts = {
    machine: { ...machine, ...over.machine },
    node: over.node === null ? { missing: 'No node could be asked.' } : { ...node, ...over.node },
  }
  return examine(facts).filter((check) => check.name === name)
}

test('a machine and a node with which nothing is wrong need nothing done', () => {
  const checks = examine({ machine, node })
  expect(checks.filter(({ verdict }) => verdict === 'warn' || verdict === 'fail')).toEqual([])
  expect(checks.filter(({ verdict }) => verdict === 'skip').map(({ name }) => name)).toEqual(['dns'])
})

test('without a node the machine is looked at, and the person is told to start one', () => {
  const checks = examine({ machine, node: { missing: 'No node could be asked: none runs here.' } })
  expect(checks.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
    'token ok',
    'state ok',
    'device ok',
    'privileges ok',
    'ports ok',
    'open files ok',
    'interfaces ok',
    'ipv6 ok',
    'resolver ok',
    'node warn',
  ])
})

const unsupported = { supported: false, message: 'no', hint: 'Do.' } as const
const udp = (reason: VpnPeerView['UDP']['Reason']) => ({ node: { vpn: vpn([reason]) } })
const clock = (AheadMs: number) => ({
  node: { reachability: { Addresses: [], Ways: [], Clock: { AheadMs, Members: 1 } } },
})
const addresses = (...Addresses: string[]) => ({
  node: { reachability: { Addresses, Ways: [], Clock: null } },
})
const taken = (isDefault: boolean) => ({
  option: '--listen',
  isDefault,
  tried: broken('address already in use 127.0.0.1:8080'),
})
const silent = { address: '192.0.2.54', tried: broken('silent') }
const ill: { readonly node: Partial<NodeFacts> } = {
  node: {
    health: {
      Status: 'error',
      Ownership: 'enforce',
      Problems: [{ Code: 'p2p.alone', Severity: 'error', Title: 'it hurts', Hint: 'Rest.', Since: null }],
    },
  },
}

const strict = {
  code: 'exit.rp_filter',
  severity: 'error',
  title: 'rp_filter is strict',
  hint: 'Do.',
} as const

test.each([
  ['token', { machine: { network: undefined } }, 'ok', 'The running node is in network'],
  ['token', { machine: { network: undefined }, node: null }, 'warn', 'No network is named'],
  ['token', { machine: { network: { error: 'no base64', hint: 'Look.' } } }, 'fail', 'No base64.'],
  ['token', { machine: { network: { id: 'other' } } }, 'fail', 'the running node is in'],
  ['token', { machine: { exposedToken: 'others can read it' } }, 'warn', 'Others can read it.'],
  ['state', { machine: { stateDir: { path: '/x', writing: broken('EROFS') } } }, 'fail', 'EROFS'],
  ['device', { machine: { support: { ...unsupported, code: 'engine.no_tun' } } }, 'fail', 'No.'],
  ['privileges', { machine: { support: { ...unsupported, code: 'engine.no_permission' } } }, 'fail', 'No.'],
  ['device', { machine: { support: { ...unsupported, code: 'engine.no_kernel_wireguard' } } }, 'fail', 'No.'],
  ['device', { machine: { wireguard: 'kernel' } }, 'ok', "the kernel's WireGuard is there"],
  ['ports', { machine: { ports: { tcp: works, udp: broken('EPERM') } } }, 'fail', 'UDP: EPERM'],
  ['ports', { machine: { places: [taken(true)] }, node: null }, 'warn', 'in use 127.0.0.1:8080 (--listen)'],
  ['ports', { machine: { places: [taken(true), taken(false)] }, node: null }, 'fail', 'in use'],
  ['ports', { machine: { places: [taken(false)] } }, 'ok', 'may listen'],
  ['open files', { machine: { maxFiles: 64 } }, 'warn', '64 files'],
  ['open files', { machine: { maxFiles: undefined } }, 'skip', 'does not say'],
  ['interfaces', { machine: { interfaces: [] } }, 'fail', 'No interface'],
  [
    'interfaces',
    {
      machine: { interfaces: [{ name: 'mesh0', mtu: 1_280 }] },
      node: { vpn: { ...vpn([]), Interface: 'mesh0' } },
    },
    'fail',
    'No interface but loopback',
  ],
  ['interfaces', { machine: { interfaces: [{ name: 'wg0', mtu: 1_200 }] } }, 'warn', 'wg0 (1200)'],
  ['resolver', { machine: { ownName: broken('ENOTFOUND') } }, 'warn', 'ENOTFOUND'],
  ['exit', { machine: { exit: [] }, node: null }, 'ok', 'Nothing'],
  ['exit', { machine: { exit: [strict] }, node: null }, 'fail', 'Rp_filter is strict.'],
  ['resolver', { machine: { nameServers: [silent] } }, 'warn', "None of this machine's DNS servers answers"],
  ['resolver', { machine: { nameServers: [...machine.nameServers, silent] } }, 'warn', '192.0.2.54 (silent)'],
  ['health', ill, 'fail', 'It hurts.'],
  ['clock', clock(300_000), 'fail', '300 s ahead of'],
  ['clock', clock(-20_000), 'warn', '20 s behind'],
  ['clock', { node: { reachability: undefined } }, 'skip', 'Not compared'],
  [
    'own ports',
    { node: { answering: [{ address: 'a:1', tried: broken('refused') }] } },
    'warn',
    'a:1: refused',
  ],
  ['own ports', { node: { answering: undefined } }, 'skip', 'another machine'],
  ['access rules', {}, 'ok', 'There are none'],
  ['access rules', { node: { rules: ruled([]) } }, 'ok', 'refused nothing here'],
  [
    'access rules',
    { node: { rules: ruled(['tcp:22', 'tcp:5432']) } },
    'ok',
    'refused 4 flows here; the last was web-1 to db-1 on tcp:5432',
  ],
  ['nat', addresses('/ip4/9.9.9.9/tcp/1/p2p/a'), 'ok', 'lets others in at 9.9.9.9'],
  ['nat', addresses('/ip4/10.0.0.5/tcp/1/p2p/a'), 'warn', 'cannot begin a connection'],
  ['nat', addresses('/ip4/100.64.3.4/tcp/1', '/ip4/9.9.9.8/tcp/1/p2p/r/p2p-circuit'), 'warn', 'over a relay'],
  ['relays', addresses(), 'warn', 'switched off'],
  ['udp', udp('blocked'), 'warn', 'laptop'],
  ['udp', udp(null), 'ok', '1 of 1 machines'],
  ['udp', udp('both-vary'), 'warn', 'both-vary'],
  ['mtu', { node: { vpn: vpn([null], 1_000) } }, 'warn', 'Only short packets pass to laptop'],
  ['mtu', { node: { vpn: undefined } }, 'skip', 'no VPN'],
  ['packets', { node: { vpn: undefined } }, 'skip', 'no VPN'],
  ['packets', { node: { vpn: { ...vpn([null]), Drops: { noRoute: 90 } } } }, 'ok', 'Few or no'],
  [
    'packets',
    { node: { vpn: { ...vpn([null]), Drops: { noRoute: 101 } } } },
    'warn',
    'No machine has the destination',
  ],
  ['peers', { node: { peers: [] } }, 'warn', 'No other member'],
  ['versions', { machine: { version: '0.2.0' } }, 'warn', 'the running node 0.1.0'],
  [
    'versions',
    { node: { peers: [peer({ Agent: 'mesh/0.0.9' })] } },
    'warn',
    '1 of 1 peers run other versions',
  ],
] as const)('%s of %j is %s', (name, over, verdict, words) => {
  const [check] = findings(name, over)
  expect(check).toMatchObject({ verdict, found: expect.stringContaining(words) as string })
  const needsNext = verdict === 'warn' || verdict === 'fail'
  expect(check?.next !== undefined && check.next !== '').toBe(needsNext)
})

test('a device that is missing is no failure where the node needs none', () => {
  const support = { ...unsupported, code: 'engine.no_tun' } as const
  const [check] = findings('device', {
    machine: { support },
    node: { node: { ...node.node, HasVpn: false } },
  })
  expect(check?.verdict).toBe('warn')
})

test('the lines for people name what to do below each finding, and cannot steer a terminal', () => {
  const text = formatChecks([
    { name: 'a', verdict: 'fail', found: 'Broken\u001B[2J.', next: 'Mend it.' },
    { name: 'clock', verdict: 'ok', found: 'Fine.' },
  ])
  expect(text).toBe(
    'FAIL  a      Broken\\u001b[2J.\n             -> Mend it.\nok    clock  Fine.\n\n1 ok, 0 to look at, 1 failed, 0 not looked at\n',
  )
})

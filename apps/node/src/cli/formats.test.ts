/** What people read of a node's answers. */
import type {
  GuestView,
  RulesView,
  PeerPingView,
  PeerView,
  VpnPeerView,
  VpnPingView,
  VpnView,
} from '@mesh/api-contract'
import { shortPeerId } from '@mesh/core'
import { describe, expect, test } from 'vitest'
import { formatPing } from './node/ping.ts'
import { formatTimeSpan } from '../words/format-quantity.ts'
import { formatStatus } from './node/status.ts'

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

function machine(over: Partial<VpnPeerView>): VpnPeerView {
  return {
    PeerID: PEER,
    Hostname: 'nas',
    Addresses: ['10.1.0.12', 'fd00::12'],
    Routes: [],
    OffersExit: null,
    Way: 'sealed',
    Path: 'direct',
    Transport: 'tcp',
    RoundTripMs: 1.25,
    UDP: { State: 'none', Reason: 'off', Endpoint: null, RoundTripMs: null },
    MTU: 1280,
    Since: null,
    PacketsIn: 3,
    PacketsOut: 2,
    BytesIn: 1_500_000,
    BytesOut: 200,
    Drops: { spoofedSource: 4, malformed: 1 },
    ...over,
  }
}

const VPN: VpnView = {
  State: 'running',
  Interface: 'mesh0',
  MTU: 1280,
  Offload: true,
  Addresses: ['10.1.0.11/24', 'fd00::11/64'],
  Routes: {
    Advertised: ['192.168.7.0/24'],
    Own: [{ CIDR: '192.168.7.0/24', Metric: 20, State: 'standby', Others: [PEER] }],
    Accepted: [{ CIDR: '192.168.8.0/24', PeerID: PEER, Metric: 10, InKernel: true, Standby: [PEER] }],
  },
  ExitNode: { Wanted: 'gate', PeerID: null, Hostname: '', State: 'searching', Families: [], Standby: [] },
  OffersExit: null,
  Peers: [],
  Drops: { multicast: 2, noRoute: 5 },
  Ignored: {},
  Refusals: {},
}

describe('mesh status', () => {
  const lines = (
    Vpn: VpnView | null,
    Peers: PeerView[] = [],
    {
      Guests = [],
      Rules = null,
      ...options
    }: { verbose?: boolean; Guests?: GuestView[]; Rules?: RulesView | null } = {},
  ) =>
    formatStatus(
      {
        Node: {
          Name: 'nas',
          PeerID: PEER,
          Network: 'a3aef9821d7c70a7dfd6',
          Instance: 'node',
          Listen: ['unix:///var/mesh/control.sock', 'http://127.0.0.1:8080'],
          Version: '0.1.0',
          StartedAt: '2026-01-01T00:00:00.000Z',
          UptimeSeconds: 11_520,
          HasVpn: Vpn !== null,
          Ownership: 'enforce',
        },
        Dns: null,
        Summary: {
          Files: 0,
          Machines: 0,
          Users: 0,
          Services: 0,
          BlockChain: 7,
          OnChainNodes: 1,
          Peers: 2,
          NodeID: PEER,
        },
        Version: '0.1.0',
        Health: {
          Status: 'warning',
          Ownership: 'enforce',
          Problems: [{ Code: 'p2p.alone', Severity: 'warning', Title: 'Alone', Hint: 'Wait.', Since: null }],
        },
        Digest: { Entries: 3, Digest: 'abc', Buckets: {} },
        Peers,
        Vpn,
        Guests,
        Rules,
      },
      options,
    ).split('\n')

  test('tells the policy in force, and what it refused last', () => {
    const policy = { default: 'refuse', groups: {}, tags: {}, allow: [], tests: [] } as const
    const end = (Name: string) => ({ Word: PEER, Name })
    const Rules = {
      Network: {
        Serial: 7,
        Administrator: PEER,
        SignedAt: '',
        Policy: { ...policy, allow: [], tests: [] },
        Names: {},
        Text: '',
      },
      Own: null,
      CanSign: false,
      Table: [],
      More: false,
      Refused: [{ From: end('web-1'), To: end('db\u202e'), On: 'tcp 22', Count: 3, LastAt: '' }],
    }
    const all = lines(null, [], { Rules })
    expect(all).toContain('rules     policy 7 of the network')
    expect(all).toContain('refused   web-1 to db\\u202e on tcp 22, 3 times')
    const none = { ...Rules, Network: null, Refused: [] }
    expect(lines(null, [], { Rules: none })).toEqual(lines(null))
  })

  test('lists guests', () => {
    const guest = {
      Name: 'phone',
      Address: '10.1.0.9',
      Address6: null,
      PublicKey: 'k',
      AddedAt: '',
      FullTunnel: false,
      NodeEndpoint: '192.0.2.7:4711',
      NodeMoved: false,
      Handshake: null,
      Endpoint: null,
    }
    const counts = { PacketsIn: 0, PacketsOut: 0, BytesIn: 2_048, BytesOut: 0 }
    const all = lines(null, [], { Guests: [{ ...guest, ...counts }] })
    expect(all.find((line) => line.includes('GUEST'))).toMatch(/^ADDRESS +GUEST +LAST HANDSHAKE +FROM/)
    expect(all.find((line) => line.includes('phone'))).toMatch(/^10\.1\.0\.9 +phone +none +- +2/)
  })

  test('says for each peer how it is reached when asked for more', () => {
    const peer: PeerView = {
      ID: PEER,
      Name: '',
      Connected: false,
      Member: false,
      Path: null,
      Relay: null,
      FoundBy: [],
      Transport: null,
      Addresses: [],
      RoundTripMs: null,
      LastSeen: null,
      LastError: null,
      Reach: 'away; 1 address from mdns; next dial in 4 s',
      Agent: null,
      UDP: null,
      TotalIn: 0,
      TotalOut: 0,
      RateIn: 0,
      RateOut: 0,
    }
    expect(lines(null, [peer]).join('\n')).not.toContain('REACH')
    const shown = lines(null, [peer, { ...peer, Reach: null }], { verbose: true })
    expect(shown.find((line) => line.includes('REACH'))).toMatch(/^PEER +REACH$/)
    expect(
      shown.filter((line) => line.endsWith('  away; 1 address from mdns; next dial in 4 s')),
    ).toHaveLength(1)
    expect(shown.filter((line) => line.endsWith('  not known'))).toHaveLength(1)
  })

  test('begins with who the node is, and what is wrong', () => {
    expect(lines(null).slice(0, 6)).toEqual([
      `node      nas (${PEER})`,
      'network   a3aef9821d7c70a7dfd6, instance node',
      'api       http://127.0.0.1:8080',
      'running   for 3 h 12 min, since 2026-01-01T00:00:00.000Z, mesh 0.1.0',
      'warning: Alone',
      '  Wait.',
    ])
  })

  test.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3_725, '1 h 2 min'],
    [86_405, '1 d'],
    [400_000, '4 d 15 h'],
  ])('%d seconds are %s', (seconds, words) => expect(formatTimeSpan(seconds)).toBe(words))

  test('says nothing of a VPN that is not there', () => {
    expect(lines(null).join('\n')).not.toMatch(/vpn|ADDRESS/)
  })

  test('tells the interface, routes and drops', () => {
    const shown = lines(VPN)
    expect(shown).toContain('vpn       running, mesh0 with MTU 1280, 10.1.0.11/24, fd00::11/64')
    const short = shortPeerId(PEER)
    expect(shown).toContain(`routes    advertises 192.168.7.0/24 (standby, also by ${short})`)
    expect(shown).toContain(`routes    reaches 192.168.8.0/24 by ${short} (on standby: ${short})`)
    // no VPN of this kind carries multicast, which every system sends: that is no loss
    expect(shown).toContain('exit      by gate, searching: packets to the Internet are dropped')
    expect(shown).toContain('dropped   5 packets (noRoute): No machine has the destination address.')
    expect(lines({ ...VPN, Drops: { multicast: 9 } }).join('\n')).not.toContain('dropped   ')
    expect(lines({ ...VPN, Interface: null, MTU: null, State: 'starting', Addresses: [] })).toContain(
      'vpn       starting',
    )
  })

  test('lists machines in the order of their addresses, with the way to each', () => {
    const shown = lines({
      ...VPN,
      Peers: [
        machine({ Addresses: ['fd00::9'], Path: null, Way: 'unknown', Transport: null, RoundTripMs: null }),
        machine({ Addresses: ['10.1.0.100'], Path: 'relayed', Hostname: '' }),
        machine({
          Addresses: ['10.1.0.101'],
          UDP: { State: 'none', Reason: 'one-way', Endpoint: null, RoundTripMs: null },
        }),
        machine({ Addresses: ['10.1.0.9'], Way: 'plain' }),
        machine({}),
      ],
    })
    const at = shown.findIndex((line) => line.startsWith('ADDRESS'))
    const columns = shown.slice(at, at + 6).map((line) => line.split(/ {2,}/))
    expect(columns.map(([address, name, , way, roundTrip]) => [address, name, way, roundTrip])).toEqual([
      ['ADDRESS', 'NAME', 'WAY', 'ROUND TRIP'],
      ['10.1.0.9', 'nas', 'direct tcp, unsealed', '1.3 ms'],
      ['10.1.0.12', 'nas', 'direct tcp', '1.3 ms'],
      ['10.1.0.100', '-', 'relayed tcp', '1.3 ms'],
      ['10.1.0.101', 'nas', 'direct tcp, UDP is blocked one way', '1.3 ms'],
      ['fd00::9', 'nas', 'not connected', '-'],
    ])
    expect(columns[1]?.slice(5)).toEqual(['1280', '1.5 MB', '200 B', '5'])
  })
})

describe('mesh ping over libp2p', () => {
  const answer: PeerPingView = {
    PeerID: PEER,
    Name: 'nas',
    Member: true,
    Path: 'relayed',
    Transport: 'tcp',
    RoundTripMs: 61.2,
  }
  test.each([
    [{}, `nas (${PEER}) by relayed tcp: 61.2 ms, over libp2p`],
    [{ Name: '', Member: false }, `${PEER} by relayed tcp: 61.2 ms, over libp2p, not proven a member`],
  ] as const)('%o is one line', (over, line) => expect(formatPing({ ...answer, ...over })).toBe(line))
})

describe('mesh ping', () => {
  const answer: VpnPingView = {
    PeerID: PEER,
    Hostname: 'nas',
    Address: '10.1.0.12',
    Way: 'sealed',
    Path: 'direct',
    Transport: 'tcp',
    RoundTripMs: 1.94,
    MTU: 1280,
    UDP: { State: 'none', Reason: 'off', Endpoint: null, RoundTripMs: null, Candidates: [] },
  }
  test.each([
    [{}, 'nas (10.1.0.12) by direct tcp: 1.9 ms, MTU 1280'],
    [{ Path: 'relayed' }, 'nas (10.1.0.12) by relayed tcp: 1.9 ms, MTU 1280'],
    [{ Way: 'plain', MTU: 1200 }, 'nas (10.1.0.12) by direct tcp unsealed: 1.9 ms, MTU 1200'],
    [{ Hostname: '', Transport: null }, '10.1.0.12 by direct connection: 1.9 ms, MTU 1280'],
    [{ Hostname: 'a\u001B[31m' }, 'a\\u001b[31m (10.1.0.12) by direct tcp: 1.9 ms, MTU 1280'],
  ] as const)('%o is one line', (over, line) => {
    expect(formatPing({ ...answer, ...over })).toBe(line)
  })
})

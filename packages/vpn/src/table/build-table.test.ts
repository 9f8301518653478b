import { type Cidr, type IpAddress, parseCidr, parseIp, type PeerId, shortPeerId } from '@mesh/core'
import type { KeyedEntry } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { createWorld, peerNamed, type World } from '../../test/table-world.ts'
import { MAX_PEER_ADDRESSES, MAX_PEER_ROUTES, MAX_TABLE_PEERS, MAX_UNNAMED_ROUTES } from '../limits.ts'
import { buildTable } from './build-table.ts'
import type { TableInput } from './table-input.ts'
import { buildEngineTable } from './engine-table.ts'

const [A, B, C] = ['a', 'b', 'c'].map(peerNamed) as [PeerId, PeerId, PeerId]

describe('machines', () => {
  it('gives each live machine its addresses, and nothing to anybody else', () => {
    const world = alive(A, B, C).machine('10.1.0.2', A).machine('fd00::2', A).machine('10.1.0.3', B, 'bee')
    const table = build(world, { ranges: [range('10.1.0.0/24'), range('fd00::/64')] })
    expect(allowed(table)).toEqual({ [A]: ['10.1.0.2/32', 'fd00::2/128'], [B]: ['10.1.0.3/32'] })
    expect(table.peers.get(B)).toMatchObject({ hostname: 'bee', addresses: ['10.1.0.3'] })
    expect(table.ignored).toEqual({})
  })

  it('knows who offers to be the exit by the word of that member alone', () => {
    const record = (peer: PeerId, Exit: unknown) => JSON.stringify({ PeerID: peer, Hostname: 'x', Exit })
    const world = alive(A, B, C)
      .entry('machines', '10.1.0.2', A, record(A, ['ipv6', 'ipx', 'ipv4']))
      .entry('machines', '10.1.0.3', B, record(B, 'ipv4'))
      .machine('10.1.0.4', C)
      .entry('machines', '10.1.0.5', A, record(C, ['ipv4']))
    const table = build(world)
    expect([A, B, C].map((peer) => table.peers.get(peer)?.exit)).toEqual([['ipv4', 'ipv6'], [], []])
  })

  it('takes of what an exit says is wrong there what it knows', () => {
    const ExitFaults = ['exit.unheard_of', 5, 'exit.no_route', 'exit.firewall']
    const record = JSON.stringify({ PeerID: A, Hostname: 'gate', Exit: ['ipv4'], ExitFaults })
    const world = alive(A).entry('machines', '10.1.0.2', A, record)
    const { exit } = build(world, { exit: { wanted: 'gate', pinned: [] } })
    expect(exit).toMatchObject({ offer: { peer: A, faults: ['exit.firewall', 'exit.no_route'] } })
  })

  it.each([
    ['badKey', '10.1.0.300'],
    ['badKey', '10.1.0.2/32'],
    ['badKey', 'fd00:0::2'],
    ['badKey', 'FD00::2'],
    ['badKey', '::ffff:10.1.0.2'],
    ['badKey', '224.0.0.1'],
    ['badKey', '__proto__'],
    ['outsideRange', '10.2.0.2'],
    ['outsideRange', 'fd01::2'],
    ['ownAddress', 'fd77::5e1f'],
  ] as const)('ignores as %s the key %s', (reason, key) => {
    const table = build(alive(A).machine(key, A))
    expect(table.peers.size).toBe(0)
    expect(table.ignored).toEqual({ [reason]: 1 })
  })

  it.each(['""', '5', 'null', '[]', '{}', '{"PeerID":5}', '{"PeerID":"Qm"}', '{', '{"PeerID":""}'])(
    'ignores the record %s',
    (value) => {
      const table = build(alive(A).entry('machines', '10.1.0.2', A, value))
      expect(table.peers.size).toBe(0)
      expect(table.ignored).toEqual({ badRecord: 1 })
    },
  )

  it('ignores who names another peer than the owner, but where nobody owns goes by the record', () => {
    const world = alive(A, B).entry('machines', '10.1.0.2', A, JSON.stringify({ PeerID: B }))
    expect(build(world).ignored).toEqual({ ownerMismatch: 1 })
    expect(allowed(build(world, { mode: 'off' }))).toEqual({ [B]: ['10.1.0.2/32'] })
  })

  it('does not route to the dead, and says when the next one may be', () => {
    const world = createWorld().beat(A, 0).beat(B, 60_000).machine('10.1.0.2', A).machine('10.1.0.3', B)
    const both = build(world, { now: world.start + 479_999 })
    expect([...both.peers.keys()]).toEqual([A, B])
    expect(both.expiresAt).toBe(world.start + 480_000)
    const later = build(world, { now: world.start + 480_000 })
    expect(allowed(later)).toEqual({ [B]: ['10.1.0.3/32'] })
    expect(later).toMatchObject({
      ignored: { ownerDead: 1 },
      silent: new Set([A]),
      expiresAt: world.start + 540_000,
    })
  })

  it('takes from the derived prefix only what is derived from the owner', () => {
    const world = alive(A, B).machine(derivedOf(A), A).machine(derivedOf(B), A).machine('fd77::5', B)
    const table = build(world)
    expect(allowed(table)).toEqual({ [A]: [`${derivedOf(A)}/128`] })
    expect(table.ignored).toEqual({ derivedOfOther: 2 })
  })

  it('skips what this node announced itself', () => {
    const { ignored, own } = build(alive(A).machine('10.1.0.9', SELF))
    expect({ ignored, own }).toEqual({ ignored: {}, own: ['10.1.0.1', 'fd77::5e1f'] })
  })

  it('gives an address of this node to the live peer that holds it, but no derived one', () => {
    const own = [ip('10.1.0.1'), ip('fd77::5e1f')]
    const world = alive(B).machine('10.1.0.1', B).machine('fd77::5e1f', B)
    const table = build(world, { own })
    expect(table.own).toEqual(['fd77::5e1f'])
    expect(allowed(table)).toEqual({ [B]: ['10.1.0.1/32'] })
    const dead = build(createWorld().machine('10.1.0.1', B), { own })
    expect(dead.own).toEqual(own)
    expect(dead.peers.size).toBe(0)
  })

  it('bounds peers, and the addresses of one', () => {
    const world = alive(A)
    for (let host = 1; host <= MAX_PEER_ADDRESSES + 5; host++) world.machine(`10.1.1.${host}`, A)
    const table = build(world, { ranges: [range('10.1.0.0/16')] })
    expect(table.peers.get(A)?.addresses).toHaveLength(MAX_PEER_ADDRESSES)
    expect(table.ignored).toEqual({ tooMany: 5 })
  })
})

describe('the static peer table', () => {
  it('replaces the ledger', () => {
    const world = alive(A, B).machine('10.1.0.2', A, 'ay').machine('10.1.0.3', B)
    const table = build(world, {
      staticPeers: [
        { address: ip('10.1.0.2'), peer: A },
        { address: ip('fd00::7'), peer: C },
        { address: ip('10.1.0.4'), peer: SELF },
        { address: ip('10.1.0.2'), peer: B },
        { address: ip('10.9.0.1'), peer: B },
      ],
      ranges: [range('10.1.0.0/24'), range('fd00::/64')],
    })
    expect(allowed(table)).toEqual({ [A]: ['10.1.0.2/32'], [C]: ['fd00::7/128'] })
    expect(table.peers.get(A)?.hostname).toBe('ay')
    expect(table.ignored).toEqual({ lostToOther: 1, outsideRange: 1 })
    expect(table.problems).toMatchObject([{ code: 'vpn.static_peer_outside' }])
  })
})

describe('the router', () => {
  it('gets what nobody owns', () => {
    const world = alive(A, B).machine('10.1.0.2', A).machine('10.1.0.3', B)
    const table = build(world, { router: ip('10.1.0.3') })
    expect(allowed(table)).toEqual({ [A]: ['10.1.0.2/32'], [B]: ['10.1.0.3/32', '0.0.0.0/0', '::/0'] })
    expect(table.kernelRoutes).toEqual([])
    expect(table.problems).toEqual([])
  })

  it('is missed, by name, until it is there', () => {
    expect(build(alive(A), { router: ip('10.1.0.3') }).problems).toMatchObject([
      { code: 'vpn.no_router', title: expect.stringContaining('10.1.0.3') },
    ])
    expect(build(alive(A), { router: ip('10.1.0.1') }).problems).toMatchObject([
      { title: expect.stringContaining('itself') },
    ])
  })
})

describe('routes', () => {
  const all = { any: true, from: new Set<PeerId>() }

  it('are taken from nobody unless asked for', () => {
    const table = build(alive(A).route('192.168.7.0/24', A))
    expect(table.accepted).toEqual([])
    expect(table.problems).toEqual([])
  })

  it('are taken from any member, or from those named', () => {
    const world = alive(A, B).route('192.168.7.0/24', A).route('fd99::/64', B, 7)
    const table = build(world, { accept: all })
    expect(table.kernelRoutes).toEqual(['192.168.7.0/24', 'fd99::/64'])
    expect(table.accepted[1]).toEqual({ range: 'fd99::/64', peer: B, metric: 7, inKernel: true })
    expect(table.peers.get(A)).toMatchObject({ addresses: [], routes: ['192.168.7.0/24'] })
    const named = build(world, { accept: { any: false, from: new Set([B]) } })
    expect(named.kernelRoutes).toEqual(['fd99::/64'])
    expect(named.ignored).toEqual({ notAccepted: 1 })
  })

  it.each(['0.0.0.0/0', '::/0', '0.0.0.0/1', '128.0.0.0/1', '2000::/3'])(
    'to everywhere (%s) only from those named, and never into the kernel',
    (text) => {
      const world = alive(A).route(text, A)
      expect(build(world, { accept: all }).ignored).toEqual({ notAccepted: 1 })
      const table = build(world, { accept: { any: true, from: new Set([A]) }, remotes: [ip('8.8.8.8')] })
      expect(allowed(table)).toEqual({ [A]: [text] })
      expect(table.kernelRoutes).toEqual([])
      expect(table.problems).toMatchObject([{ code: 'vpn.default_route_by_hand' }])
    },
  )

  it.each([
    ['10.1.0.0/24', 'vpnRange'],
    ['10.1.0.128/25', 'vpnRange'],
    ['10.1.0.7/32', 'vpnRange'],
    ['fd77::/64', 'vpnRange'],
    ['192.168.1.0/24', 'connectedNetwork'],
    ['192.168.1.64/26', 'connectedNetwork'],
    ['192.168.50.0/24', 'connectedNetwork'],
    ['203.0.113.0/24', 'cutsPeers'],
    ['2001:db8::/32', 'cutsPeers'],
    ['127.0.0.0/8', 'badKey'],
    ['224.0.0.0/8', 'badKey'],
    ['fe80::/64', 'badKey'],
    ['192.168.7.1/24', 'badKey'],
    ['192.168.7.0', 'badKey'],
  ] as const)('%s is refused: %s', (text, reason) => {
    const table = build(alive(A).route(text, A), {
      accept: { any: true, from: new Set([A]) },
      connected: [range('192.168.1.0/24'), range('0.0.0.0/0')],
      advertised: [range('192.168.50.0/24')],
      remotes: [ip('203.0.113.9'), ip('2001:db8::9')],
    })
    expect(table.accepted).toEqual([])
    expect(table.ignored).toEqual({ [reason]: 1 })
    const told = { code: 'vpn.route_not_taken', title: expect.stringContaining(shortPeerId(A)) }
    expect(table.problems).toMatchObject(reason === 'badKey' ? [] : [told])
  })

  it('to which the host has a route of its own are taken from named members alone, and wider ones from all', () => {
    const world = alive(A, B).route('10.9.0.0/16', A).route('10.9.4.0/24', B).route('fd99::/64', A)
    world.route('10.0.0.0/8', A).route('172.16.0.0/12', A)
    const routed = ['10.9.0.0/16', 'fd99::/48', '0.0.0.0/1', '::/3', '8.8.8.0/24'].map(range)
    const first = build(world, { accept: all })
    expect(first.kernelRoutes).toContain('10.9.0.0/16')
    // one that was taken already gives way as well
    const table = build(world, { accept: all, routed, held: first.accepted })
    expect(table.kernelRoutes).toEqual(['10.0.0.0/8', '172.16.0.0/12'])
    expect(table.ignored).toEqual({ hostRoute: 3 })
    expect(table.problems).toMatchObject([
      {
        code: 'vpn.route_not_taken',
        title: expect.stringMatching(/route of its own: 10\.9\.0\.0\/16 of /),
        hint: expect.stringContaining('--accept-routes-from'),
      },
    ])
    const named = build(world, { accept: { any: true, from: new Set([A]) }, routed })
    expect(named.kernelRoutes).toEqual(['10.0.0.0/8', '172.16.0.0/12', '10.9.0.0/16', 'fd99::/64'])
    expect(named.ignored).toEqual({ hostRoute: 1 })
  })

  it('wider than what is connected are taken: the longest match keeps the nearer', () => {
    const table = build(alive(A).route('10.0.0.0/8', A).route('192.168.0.0/16', A), {
      accept: all,
      connected: [range('192.168.1.0/24')],
    })
    expect(table.kernelRoutes).toEqual(['10.0.0.0/8', '192.168.0.0/16'])
  })

  it('lose to the router that the person named', () => {
    const world = alive(A, B).machine('10.1.0.3', B).route('0.0.0.0/0', A)
    const table = build(world, { router: ip('10.1.0.3'), accept: { any: false, from: new Set([A]) } })
    expect(allowed(table)).toEqual({ [B]: ['10.1.0.3/32', '0.0.0.0/0', '::/0'] })
    expect(table.ignored).toEqual({ lostToOther: 1 })
  })

  it('of the Internet, and parts of what another member has, are taken from named members alone', () => {
    const world = alive(A, B).route('192.168.7.0/24', A).route('192.168.7.0/25', B).route('192.168.0.0/16', B)
    world.route('8.8.8.8/32', B).route('1.0.0.0/8', B).route('2606:4700::/32', B)
    const first = build(alive(A).route('192.168.7.0/24', A), { accept: all })
    const table = build(world, { accept: all, held: first.accepted })
    // a wider one takes nothing from anyone who has the nearer
    expect(table.kernelRoutes).toEqual(['192.168.7.0/24', '192.168.0.0/16'])
    expect(table.ignored).toEqual({ publicRange: 3, partOfOther: 1 })
    expect(table.problems).toHaveLength(2)
    const named = build(world, { accept: { any: true, from: new Set([B]) } })
    expect(named.ignored).toEqual({ partOfOther: 1 })
    expect(named.accepted.map(({ peer }) => peer)).toEqual([B, B, B, B, B])
  })

  it('of members that were not named have a bound, however many keys they have', () => {
    const world = createWorld()
    for (let at = 0; at < MAX_UNNAMED_ROUTES + 50; at++) {
      const peer = peerNamed(`sybil ${at % 40}`)
      world.beat(peer, 0).route(`172.16.${at >> 8}.${at & 255}/32`, peer)
    }
    const table = build(world, { accept: all })
    expect(table.accepted).toHaveLength(MAX_UNNAMED_ROUTES)
    expect(table.ignored).toEqual({ tooMany: 50 })
    expect(table.problems[0]?.title).toContain(String(MAX_UNNAMED_ROUTES))
  })

  it('of members with few find room among those of members with many, which are not even read', () => {
    const world = alive(A)
    for (let at = 0; at < 10 * MAX_UNNAMED_ROUTES; at++) {
      const peer = peerNamed(`crowd ${at % 5}`)
      world.beat(peer, 0).route(`172.16.${at >> 8}.${at & 255}/32`, peer)
    }
    world.route('172.31.0.1/32', A).route('172.31.0.2/32', A)
    let read = 0
    const { snapshot } = world
    const counted = (each: KeyedEntry): KeyedEntry => {
      const { value, ...entry } = each.entry
      const get = () => (read++, value)
      return { ...each, entry: Object.defineProperty(entry, 'value', { get }) as KeyedEntry['entry'] }
    }
    const whole = snapshot()
    const routes = [...whole.entries('routes')].map(counted)
    const entries = (bucket?: string) => (bucket === 'routes' ? routes : whole.entries(bucket))
    const table = build({ ...world, snapshot: () => ({ ...whole, entries }) }, { accept: all })
    expect(table.kernelRoutes).toEqual(expect.arrayContaining(['172.31.0.1/32', '172.31.0.2/32']))
    expect(table.accepted).toHaveLength(MAX_UNNAMED_ROUTES)
    expect(table.ignored).toEqual({ tooMany: 9 * MAX_UNNAMED_ROUTES + 2 })
    expect(table.problems[0]?.title).toContain(`and ${9 * MAX_UNNAMED_ROUTES - 1} more`)
    expect(read).toBeLessThan(4 * MAX_UNNAMED_ROUTES)
  })

  it.each(['{"Metric":1}', '{"PeerID":"x"}'])('with the record %s are ignored', (value) => {
    expect(build(alive(A).entry('routes', '192.168.7.0/24', A, value), { accept: all }).ignored).toEqual({
      badRecord: 1,
    })
  })

  it.each([-1, 1.5, '7', 2 ** 32])('with the metric %j are ignored', (metric) => {
    const value = JSON.stringify({ PeerID: A, Metric: metric })
    expect(build(alive(A).entry('routes', '192.168.7.0/24', A, value), { accept: all }).ignored).toEqual({
      badRecord: 1,
    })
  })

  it('of the dead are none, and one peer has not all the room', () => {
    const dead = build(createWorld().route('192.168.7.0/24', A), { accept: all })
    expect(dead).toMatchObject({ accepted: [], ignored: { ownerDead: 1 } })
    const world = alive(A, B).route('192.168.7.0/24', B)
    for (let net = 0; net < MAX_PEER_ROUTES + 3; net++) world.route(`172.16.${net % 256}.${net >> 8}/32`, A)
    const table = build(world, { accept: all })
    expect(table.accepted).toHaveLength(MAX_PEER_ROUTES + 1)
    expect(table.ignored).toEqual({ tooMany: 3 })
  })
})

it('gives the engine the tunnels, and what this node receives for', () => {
  const world = alive(A, B).machine('10.1.0.2', A).machine('10.1.0.3', B)
  const tunnel = { kind: 'legacy' } as const
  const engine = buildEngineTable(build(world), {
    own: [ip('10.1.0.1'), ip('fd77::1')],
    advertised: [range('192.168.50.0/24')],
    tunnelOf: (peer) => ({ tunnel, mtu: peer === A ? 1200 : 1280 }),
    guestMtu: 1280,
  })
  expect(engine).toEqual({
    local: ['10.1.0.1/32', 'fd77::1/128', '192.168.50.0/24'],
    peers: [
      { peer: A, allowed: ['10.1.0.2/32'], mtu: 1200, tunnel },
      { peer: B, allowed: ['10.1.0.3/32'], mtu: 1280, tunnel },
    ],
    guests: [],
  })
})

it(`holds ${MAX_TABLE_PEERS} peers at most`, () => {
  const world = createWorld()
  for (let host = 0; host < MAX_TABLE_PEERS + 2; host++) {
    const peer = peerNamed(`many ${host}`)
    world.beat(peer, 0).machine(`10.1.${host >> 8}.${host & 255}`, peer)
  }
  const table = build(world, { ranges: [range('10.1.0.0/16')], own: [] })
  expect(table.peers.size).toBe(MAX_TABLE_PEERS)
  expect(table.ignored).toEqual({ tooMany: 2 })
})

const SELF = peerNamed('self')

function alive(...peers: PeerId[]): World {
  const world = createWorld()
  for (const peer of [SELF, ...peers]) world.beat(peer, 0)
  return world
}

function derivedOf(peer: PeerId): IpAddress {
  return peer === A ? ip('fd77::a') : ip('fd77::b')
}

function build(world: World, changes: Partial<TableInput> = {}) {
  return buildTable({
    snapshot: world.snapshot(),
    now: world.start + 1000,
    self: SELF,
    mode: 'enforce',
    livenessMs: 480_000,
    own: [ip('10.1.0.1'), ip('fd77::5e1f')],
    ranges: [range('10.1.0.0/24'), range('fd77::/64')],
    derived: { prefix: range('fd77::/64'), addressOf: derivedOf },
    staticPeers: [],
    admits: () => true,
    router: undefined,
    accept: { any: false, from: new Set() },
    advertised: [],
    connected: [],
    routed: [],
    remotes: [],
    ...changes,
  })
}

function allowed({ peers }: ReturnType<typeof buildTable>): Record<string, readonly Cidr[]> {
  return Object.fromEntries([...peers].map(([peer, { allowed }]) => [peer, allowed]))
}

function ip(text: string): IpAddress {
  return parseIp(text)
}

function range(text: string): Cidr {
  return parseCidr(text)
}

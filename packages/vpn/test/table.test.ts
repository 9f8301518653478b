/** The table against a slow twin that asks the ledger for each single address, and against the clock. */
import { type Cidr, cidrContains, parseCidr, parseIp, type PeerId } from '@mesh/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildTable } from '../src/table/build-table.ts'
import type { TableInput } from '../src/table/table-input.ts'
import { createWorld, peerNamed, type World } from './table-world.ts'

const peers = ['self', 'a', 'b', 'c', 'd'].map(peerNamed) as [PeerId, ...PeerId[]]
const [SELF] = peers

/** Few bits, so that ranges overlap and addresses meet. */
const host = fc.constantFrom(1, 2, 3, 6, 7, 9)
const address = fc.oneof(
  fc.tuple(fc.constantFrom('10.1.0', '10.1.1', '10.9.0', '172.16.0'), host).map((all) => all.join('.')),
  fc.tuple(fc.constantFrom('fd00::', 'fd00::1:', 'fd09::'), host).map((all) => all.join('')),
)
const cidr = fc
  .tuple(address, fc.constantFrom(0, 1, 7, 8, 16, 22, 24, 29, 30, 32, 64, 126, 128))
  .map(([text, bits]) => parseCidr(`${text}/${text.includes(':') ? bits : Math.min(32, bits)}`))
const someone = fc.constantFrom(...peers)

const drawn = fc.record({
  alive: fc.subarray(peers),
  machines: fc.array(fc.tuple(address, someone, someone), { maxLength: 12 }),
  routes: fc.array(fc.tuple(cidr, someone), { maxLength: 8 }),
  router: fc.option(address, { nil: undefined }),
  staticPeers: fc.oneof(fc.constant([]), fc.array(fc.tuple(address, someone), { maxLength: 3 })),
  any: fc.boolean(),
  from: fc.subarray(peers),
  connected: fc.array(cidr, { maxLength: 2 }),
  routed: fc.array(cidr, { maxLength: 2 }),
  remotes: fc.array(address, { maxLength: 2 }),
  asked: fc.array(address, { minLength: 5, maxLength: 8 }),
})
interface Drawn {
  readonly alive: readonly PeerId[]
  readonly machines: readonly (readonly [string, PeerId, PeerId])[]
  readonly routes: readonly (readonly [Cidr, PeerId])[]
  readonly router: string | undefined
  readonly staticPeers: readonly (readonly [string, PeerId])[]
  readonly any: boolean
  readonly from: readonly PeerId[]
  readonly connected: readonly Cidr[]
  readonly routed: readonly Cidr[]
  readonly remotes: readonly string[]
  readonly asked: readonly string[]
}

const RANGES = ['10.1.0.0/23', 'fd00::/64'].map(parseCidr)
const OWN = ['10.1.0.1', 'fd00::1'].map(parseIp)
const DERIVED = parseCidr('fd00::1:0/112')
const derivedOf = (peer: PeerId) => parseIp(`fd00::1:${peers.indexOf(peer) + 1}`)

test('every address goes where the slow twin sends it, and no range to two', () => {
  fc.assert(
    fc.property(drawn, (given) => {
      const world = worldOf(given)
      const table = buildTable(inputOf(given, world))
      const rows = [...table.peers].flatMap(([peer, { allowed }]) =>
        allowed.map((range) => ({ peer, range })),
      )
      expect(new Set(rows.map(({ range }) => range)).size).toBe(rows.length)
      for (const text of given.asked) {
        const best = rows
          .filter(({ range }) => cidrContains(range, parseIp(text)))
          .toSorted((one, other) => bitsOf(other.range) - bitsOf(one.range))[0]
        expect([text, best?.peer]).toEqual([text, twin(given, text)])
      }
      const inKernel = table.accepted.filter((route) => route.inKernel).map(({ range }) => range)
      expect(table.kernelRoutes).toEqual(inKernel)
      for (const range of inKernel)
        for (const remote of given.remotes) expect(cidrContains(range, parseIp(remote))).toBe(false)
    }),
    { numRuns: 300 },
  )
})

test('whatever keys and records say, a table comes of it', () => {
  const text = fc.oneof(fc.string(), fc.json(), address, cidr)
  const record = fc.oneof(
    fc.json(),
    fc
      .record({ PeerID: fc.oneof(someone, fc.string()), Metric: fc.anything(), Hostname: fc.anything() })
      .map(
        (value) =>
          JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one)) ?? 'null',
      ),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('machines', 'routes'), text, someone, record)),
      (entries) => {
        const world = createWorld()
        for (const peer of peers) world.beat(peer, 0)
        for (const [bucket, key, owner, value] of entries) world.entry(bucket, key, owner, value)
        const { peers: table } = buildTable(inputOf({ ...NOTHING, any: true, from: peers }, world))
        const ranges = [...table.values()].flatMap(({ allowed }) => allowed)
        expect(ranges.map(parseCidr)).toEqual(ranges)
      },
    ),
    { numRuns: 300 },
  )
})

test('5,000 machines, and a heartbeat later', () => {
  const world = createWorld()
  for (let at = 0; at < 5000; at++) {
    const peer = peerNamed(`machine ${at}`)
    world.beat(peer, 0).machine(`10.1.${at >> 8}.${at & 255}`, peer, `host-${at}`)
    world.machine(`fd00::${(at + 16).toString(16)}`, peer)
  }
  const input = inputOf({ ...NOTHING, any: true }, world, [parseCidr('10.1.0.0/16'), parseCidr('fd00::/64')])
  const first = buildTable(input)
  const again = [1, 2, 3, 4].map(() => cpuMsOf(() => buildTable(input)))
  expect(first.peers.size).toBe(5000)
  expect(first.peers.get(peerNamed('machine 77'))?.addresses).toEqual(['10.1.0.77', 'fd00::5d'])
  // about 20 ms on a machine that does nothing else
  expect(Math.min(...again)).toBeLessThan(150)
})

const NOTHING: Drawn = {
  alive: [],
  machines: [],
  routes: [],
  router: undefined,
  staticPeers: [],
  any: false,
  from: [],
  connected: [],
  routed: [],
  remotes: [],
  asked: [],
}

/** Later entries of a key replace earlier ones here, as the twin does by `findLast`. */
function worldOf({ alive, machines, routes }: Drawn): World {
  const world = createWorld()
  for (const peer of alive) world.beat(peer, 0)
  for (const [key, owner, named] of new Map(machines.map((one) => [one[0], one])).values())
    world.entry('machines', key, owner, JSON.stringify({ PeerID: named }))
  for (const [key, owner] of new Map(routes.map((one) => [one[0], one])).values()) world.route(key, owner)
  return world
}

function inputOf(given: Drawn, world: World, ranges = RANGES): TableInput {
  return {
    snapshot: world.snapshot(),
    now: world.start,
    self: SELF,
    mode: 'enforce',
    livenessMs: 480_000,
    own: OWN.filter((ip) => ranges === RANGES || ip === ''),
    ranges,
    derived: { prefix: DERIVED, addressOf: derivedOf },
    staticPeers: given.staticPeers.map(([text, peer]) => ({ address: parseIp(text), peer })),
    admits: () => true,
    router: given.router === undefined ? undefined : parseIp(given.router),
    accept: { any: given.any, from: new Set(given.from) },
    advertised: [],
    connected: given.connected,
    routed: given.routed,
    remotes: given.remotes.map(parseIp),
  }
}

/** Who owns one address, looked up as a person would: machine, then routes by length, then the router. */
function twin(given: Drawn, text: string): PeerId | undefined {
  const machine = twinMachine(given, text)
  if (machine !== undefined) return machine
  const routes = new Map(given.routes)
  for (let bits = 128; bits >= 0; bits--) {
    for (const [range, peer] of routes) {
      if (bitsOf(range) !== bits || !cidrContains(range, parseIp(text))) continue
      if (twinTakes(given, range, peer)) return peer
    }
  }
  return twinRouter(given)
}

function twinMachine(given: Drawn, text: string): PeerId | undefined {
  if (!RANGES.some((range) => cidrContains(range, parseIp(text)))) return
  if (given.staticPeers.length > 0) {
    if (OWN.some((own) => own === text) && twinHolder(given, text) === undefined) return
    const found = given.staticPeers.find(([key, peer]) => parseIp(key) === parseIp(text) && peer !== SELF)
    return found?.[1]
  }
  return twinHolder(given, text)
}

/** Of a static table's addresses the node's own stay its own only while the ledger does not say otherwise. */
function twinHolder(given: Drawn, text: string): PeerId | undefined {
  const entry = given.machines.findLast(([key]) => key === text)
  if (entry === undefined) return
  const [key, owner, named] = entry
  if (key !== parseIp(key) || owner !== named || owner === SELF || !given.alive.includes(owner)) return
  if (cidrContains(DERIVED, parseIp(key)) && derivedOf(owner) !== key) return
  return owner
}

function twinRouter(given: Drawn): PeerId | undefined {
  return given.router === undefined ? undefined : twinMachine(given, parseIp(given.router))
}

/** Of members that were not named nothing public, and no part of what the host routes or another has. */
function twinTakes(given: Drawn, range: Cidr, peer: PeerId): boolean {
  if (!twinMayTake(given, range, peer)) return false
  if (bitsOf(range) === 0 && twinRouter(given) !== undefined) return false
  if (given.from.includes(peer)) return true
  if (!NOT_PUBLIC.some((one) => isWithin(one, range))) return false
  if (given.routed.some((one) => !isNearlyAll(one) && isWithin(one, range))) return false
  return ![...new Map(given.routes)].some(
    ([other, holder]) =>
      holder !== peer && other !== range && isWithin(other, range) && twinTakes(given, other, holder),
  )
}

const NOT_PUBLIC = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '203.0.113.0/24',
  'fc00::/7',
  '2001:db8::/32',
].map(parseCidr)

const isWithin = (outer: Cidr, inner: Cidr) =>
  bitsOf(outer) <= bitsOf(inner) && cidrContains(outer, parseIp(inner.slice(0, inner.indexOf('/'))))

function twinMayTake(given: Drawn, range: Cidr, peer: PeerId): boolean {
  if (peer === SELF || !given.alive.includes(peer)) return false
  const isBroad = isNearlyAll(range)
  if (!given.from.includes(peer) && (isBroad || !given.any)) return false
  const nearer = [...RANGES, ...given.connected.filter((one) => bitsOf(one) > 0)]
  if (nearer.some((one) => isWithin(one, range))) return false
  return isBroad || !given.remotes.some((remote) => cidrContains(range, parseIp(remote)))
}

const isNearlyAll = (range: Cidr) => bitsOf(range) < (range.includes(':') ? 16 : 8)

function bitsOf(range: Cidr): number {
  return Number(range.slice(range.indexOf('/') + 1))
}

/** Processor time: what runs beside the test does not count. */
function cpuMsOf(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

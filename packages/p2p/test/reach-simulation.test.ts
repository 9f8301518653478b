/** A hundred nodes behind every kind of NAT, in virtual time: what must hold whatever the seed. */
import { createSeededRandom, NAT_KINDS } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import {
  MAX_PARALLEL_DIALS,
  MAX_PARALLEL_UPGRADES,
  MAX_SPECULATIVE_RELAYED,
  RELAYED_GRACE_MS,
  RELAYS_WANTED,
} from '../src/reach/limits.ts'
import { pairOf, ReachNetwork } from './reach-network.ts'
import type { SimPeer } from './sim-peer.ts'

const MINUTE = 60_000
/** From a demand that some path can meet to the connection. */
const JOINED_WITHIN_MS = 20_000

function build({ seed, nodes }: { readonly seed: number; readonly nodes: number }) {
  const random = createSeededRandom(seed)
  const relayCount = Math.ceil(nodes / 12)
  const network = new ReachNetwork(random)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.float() * from.length)] as T
  const ids = Array.from(
    { length: nodes },
    (_, n) => `${String.fromCharCode(97 + Math.floor(random.float() * 26))}${n}`,
  )
  const peers = ids.map((id, n) =>
    n < relayCount
      ? network.add(id, 'open', true)
      : network.add(id, NAT_KINDS[n % NAT_KINDS.length] ?? 'open', false),
  )
  const relays = peers.slice(0, relayCount)
  const others = peers.slice(relayCount)
  return { network, peers, relays, others, pick, random }
}

/** Two minutes in which nodes start, then three in which they go, come, move and lose packets; then all is quiet. */
function unrest({ network, peers, relays, others, pick, random }: ReturnType<typeof build>): void {
  /** Three that its firewall lets it dial. */
  const start = (peer: SimPeer) => {
    const open = relays.filter((relay) => !network.blocked.has(`${peer.id} ${relay.id}`))
    network.start(peer, [pick(open), pick(open), pick(open)])
  }
  for (let n = 0; n < 2 * peers.length; n++) {
    // a firewall that lets one direction through
    const [from, to] = [pick(others), pick(peers)]
    if (from !== to && !network.blocked.has(`${to.id} ${from.id}`)) network.blocked.add(`${from.id} ${to.id}`)
  }
  for (const peer of relays) network.start(peer, relays)
  for (const peer of others) network.at(random.float() * 20_000, () => start(peer))
  network.lossOfDials = 0.1
  network.run(2 * MINUTE)
  for (let n = 0; n < 12; n++) {
    const [goes, moves] = [pick(others), pick(others)]
    network.at(random.float() * MINUTE, () => {
      if (goes.isUp) network.stop(goes, random.float() < 0.5)
    })
    network.at((1 + random.float()) * MINUTE, () => {
      if (!goes.isUp) start(goes)
    })
    network.at(random.float() * 2 * MINUTE, () => network.move(moves))
  }
  const relay = pick(relays)
  network.at(30_000, () => network.stop(relay, false))
  network.at(90_000, () => network.start(relay, relays))
  network.run(3 * MINUTE)
  network.lossOfDials = 0
  network.run(2 * MINUTE)
}

describe.each([
  { seed: 1, nodes: 100 },
  { seed: 2, nodes: 30 },
  { seed: 5, nodes: 30 },
  { seed: 4, nodes: 30 },
])('$nodes nodes, seed $seed', ({ seed, nodes }) => {
  const built = build({ seed, nodes })
  const pairCount = 0.6 * nodes
  const { network, peers, relays, others, pick } = built
  const pathOf = (a: SimPeer, b: SimPeer) => a.to(b.id)
  const wanted: [SimPeer, SimPeer][] = []
  /** A relay that both can use. */
  const commonRelay = (a: SimPeer, b: SimPeer) =>
    relays.find(
      (relay) =>
        (b.reservations.has(relay.id) && network.canDial(a, relay)) ||
        (a.reservations.has(relay.id) && network.canDial(b, relay)),
    )

  test('every pair that some path can join is joined in its time once somebody asks', () => {
    unrest(built)
    while (wanted.length < pairCount) {
      const [a, b] = [pick(others), pick(others)]
      if (a === b || a.wanted.has(b.id)) continue
      wanted.push([a, b])
      network.want(a, b.id)
    }
    network.run(JOINED_WITHIN_MS)
    const apart = wanted.filter(([a, b]) => {
      // what nobody could tell cannot be known
      const known = a.book.get(b.id) ?? []
      const isJoinable =
        (known.length > 0 && network.canDial(a, b)) ||
        known.some(
          ({ relay }) =>
            relay !== undefined && b.reservations.has(relay) && network.canDial(a, network.get(relay)),
        )
      return isJoinable && pathOf(a, b).length === 0
    })
    expect(apart.map(([a, b]) => `${a.id} ${a.nat.kind} - ${b.id} ${b.nat.kind}`)).toEqual([])
    // and the simulation is no idle one: nearly all can be joined
    expect(wanted.filter(([a, b]) => pathOf(a, b).length > 0).length).toBeGreaterThan(0.8 * pairCount)
  }, 120_000)

  test('every node holds a reservation', () => {
    const without = others.filter((peer) => peer.isUp && peer.reservations.size === 0)
    expect(without.map(({ id }) => id)).toEqual([])
  })

  test('asked-for pairs that a direct path can join become direct', () => {
    network.run(5 * MINUTE)
    const relayed = wanted.filter(([a, b]) => {
      const relay = commonRelay(a, b)
      if (relay === undefined || pathOf(a, b).some(({ direct }) => direct)) return false
      return network.canBeDirect(a, b, relay)
    })
    expect(relayed.map(([a, b]) => `${a.id} ${a.nat.kind} - ${b.id} ${b.nat.kind}`)).toEqual([])
  })

  test('no second connection between two peers remains, and both ends see the same', () => {
    network.run(4 * RELAYED_GRACE_MS)
    // what opened a moment ago has its time to close
    const settled = network.now - 3 * RELAYED_GRACE_MS
    const late = new Set(network.changes.filter(({ at }) => at > settled).map((change) => change.peers))
    const doubled = peers.flatMap((peer) =>
      peers
        .filter((other) => peer.id < other.id && pathOf(peer, other).length > 1)
        .map(({ id }) => pairOf(peer.id, id))
        .filter((pair) => !late.has(pair)),
    )
    expect(doubled).toEqual([])
    for (const peer of peers) {
      for (const { id, dialler, answerer } of peer.connections.values()) {
        if (late.has(pairOf(dialler.id, answerer.id))) continue
        expect(dialler.connections.has(id) && answerer.connections.has(id)).toBe(true)
      }
    }
  })

  test('nothing is dialled for ever, and no path comes and goes without a cause', () => {
    const since = network.now
    network.run(5 * MINUTE)
    const late = network.changes.filter(({ at }) => at > since)
    // direct connections stay as they are
    expect(late.filter(({ direct, opened }) => direct && !opened)).toEqual([])
    const opened = new Map<string, number>()
    for (const { peers: pair } of late.filter((change) => change.opened)) {
      opened.set(pair, (opened.get(pair) ?? 0) + 1)
    }
    // a speculative relayed connection is tried once in ten minutes by either end, and may become direct
    expect([...opened].filter(([, times]) => times > 2)).toEqual([])
    // connections that somebody asked for stay, unless their relay went from under them
    for (const [a, b] of wanted) {
      const closed = late.filter((change) => change.peers === pairOf(a.id, b.id) && !change.opened)
      expect(closed.length).toBeLessThanOrEqual(1)
    }
  })

  test('no share was ever exceeded', () => {
    for (const { most } of peers) {
      expect(most.searching).toBeLessThanOrEqual(MAX_PARALLEL_DIALS)
      expect(most.upgrading).toBeLessThanOrEqual(MAX_PARALLEL_UPGRADES)
      expect(most.speculative).toBeLessThanOrEqual(MAX_SPECULATIVE_RELAYED)
      expect(most.reservations).toBeLessThanOrEqual(RELAYS_WANTED)
    }
    expect(Math.max(...peers.map(({ most }) => most.searching))).toBeGreaterThan(nodes / 20)
  })
})

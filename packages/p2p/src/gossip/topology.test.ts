import type { Connection, PeerId as Libp2pPeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { parsePeerId, peerIdFromPublicKey, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { MAX_USEFUL_MESH_PEERS } from './limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { GossipTopology } from './topology.ts'

const TOPIC = 'topic'
const [SELF, HUB, LEAF, STRANGER] = [
  '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
  '12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa',
  '12D3KooWSYUuj65TpeQAr1TSNLZw9wvF1sgJzEY6bgmEsfBV3wjy',
  '12D3KooWNGJ4DYpyCbcSbuv8BttsMoNdgWJW2uQz7sPip6VynNzv',
] as const

/** A node on one topic whose gossipsub and connections are written down here. */
function build() {
  const clock = createManualClock()
  const mesh = new Set<string>()
  const pruned: string[] = []
  const subscribers: Libp2pPeerId[] = []
  const subscribed = new Set<string>()
  const events = new EventTarget()
  const pubsub = Object.assign(new EventTarget(), {
    mesh: new Map([[TOPIC, mesh]]),
    topics: new Map([[TOPIC, subscribed]]),
    direct: new Set<string>(),
    streamsOutbound: new Map<string, unknown>(),
    getTopics: () => [TOPIC],
    getSubscribers: () => subscribers,
    addToMesh: (peer: string) => mesh.add(peer),
    sendGraft() {},
    async sendPrune(peer: string) {
      pruned.push(peer)
    },
    join() {},
    graftOnSubscribe: () => false,
    async handleGraft() {},
    async handlePrune() {},
    handleIHave: () => [{ messageIDs: [new Uint8Array(1)] }],
  })
  const connections: Connection[] = []
  const spoken = { of: () => new Set([MEMBER_PROTOCOL]), onChange: () => () => {} }
  const topology = new GossipTopology({
    self: parsePeerId(SELF),
    libp2p: Object.assign(events, { getConnections: () => connections }) as never,
    pubsub: pubsub as unknown as GossipInternals,
    spoken: spoken as unknown as SpokenProtocols,
    clock,
    logger: silentLogger,
  })
  topology.start()
  const connect = (peer: string, address: string) => {
    const connection = {
      remotePeer: peerIdFromString(peer),
      remoteAddr: multiaddr(address),
      direct: !address.includes('p2p-circuit'),
      status: 'open',
    } as unknown as Connection
    connections.push(connection)
    events.dispatchEvent(new CustomEvent('connection:open', { detail: connection }))
  }
  const subscribe = (peer: string) => {
    pubsub.streamsOutbound.set(peer, {})
    subscribers.push(peerIdFromString(peer))
    subscribed.add(peer)
    pubsub.dispatchEvent(new CustomEvent('subscription-change'))
  }
  const offer = (peer: string) => pubsub.handleIHave(...([peer, [{ topicID: TOPIC }]] as unknown as []))
  return { topology, clock, mesh, pruned, connect, subscribe, offer }
}

const OVER_HUB = `/ip4/192.0.2.1/tcp/4001/p2p/${HUB}/p2p-circuit/p2p/${LEAF}`

async function leafOfAStar() {
  const node = build()
  node.connect(HUB, `/ip4/192.0.2.1/tcp/4001/p2p/${HUB}`)
  node.subscribe(HUB)
  node.connect(LEAF, OVER_HUB)
  node.subscribe(LEAF)
  await node.clock.advance(10_000)
  return node
}

test('a leaf links to its hub alone, and to another leaf when it is connected directly', async () => {
  const { topology, clock, mesh, connect } = await leafOfAStar()
  expect([...mesh]).toEqual([HUB])
  expect(topology.isFew(TOPIC)).toBe(false)
  connect(LEAF, '/ip4/192.0.2.2/tcp/4001')
  await clock.advance(1_000)
  expect([...mesh]).toEqual([HUB, LEAF])
  expect(topology.isFew(TOPIC)).toBe(true)
  topology.stop()
  expect(clock.pending).toBe(0)
})

test('a peer that had what came by no link is linked to for a while', async () => {
  const { topology, clock, mesh, pruned, offer } = await leafOfAStar()
  offer(LEAF)
  expect([...mesh]).toEqual([HUB, LEAF])
  await clock.advance(25_000)
  expect(pruned).toEqual([])
  await clock.advance(10_000)
  expect([[...mesh], pruned]).toEqual([[HUB], [LEAF]])
  topology.stop()
  expect(clock.pending).toBe(0)
})

test('strangers that come and go do not keep links that nobody picks', async () => {
  const { topology, clock, mesh, connect } = await leafOfAStar()
  mesh.add(LEAF)
  connect(LEAF, OVER_HUB)
  for (let second = 0; second < 10; second++) {
    connect(STRANGER, '/ip4/192.0.2.3/tcp/4001')
    await clock.advance(1_000)
  }
  expect([...mesh]).toEqual([HUB])
  topology.stop()
})

/** Ids of members, by number. */
function memberAt(number: number): string {
  return peerIdFromPublicKey(new Uint8Array(32).fill(number + 1))
}

test('where members come all the time the mesh stays small, and nothing goes to each of many', async () => {
  const { topology, clock, mesh, subscribe } = build()
  const sizes: number[] = []
  for (let number = 0; number < 60; number++) {
    subscribe(memberAt(number))
    await clock.advance(1_000)
    sizes.push(mesh.size)
  }
  // what is picked now, and what was before
  expect(Math.max(...sizes)).toBeLessThanOrEqual(5)
  expect(sizes.slice(10).reduce((sum, size) => sum + size, 0) / 50).toBeLessThan(3)
  expect(topology.isMeshed(TOPIC)).toBe(mesh.size >= 3)
  topology.stop()
})

test('where every message comes late few become mesh peers for having had it', async () => {
  const { topology, clock, mesh, subscribe, offer } = build()
  for (let number = 0; number < 40; number++) subscribe(memberAt(number))
  await clock.advance(10_000)
  const before = mesh.size
  for (let number = 0; number < 40; number++) offer(memberAt(number))
  expect(mesh.size).toBeLessThanOrEqual(before + MAX_USEFUL_MESH_PEERS)
  expect(mesh.size).toBeGreaterThan(before)
  topology.stop()
})

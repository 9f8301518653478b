/**
 * Which peers of a topic pass messages on to each other. Gossipsub's random choice needs five or six mesh peers
 * a node to be safe, and each is sent a copy of every message. Members who see the same peers choose alike instead: a
 * ring in an order that the topic shuffles, and one chord each. That is three mesh peers a node, always in one
 * piece, and about log2(n) steps between any two. Pure.
 */
import type { Connection } from '@libp2p/interface'
import { sha256 } from '@noble/hashes/sha2.js'
import { relayOf } from '../addresses/address-rules.ts'

/** Up to so many peers are all taken. */
const ALL_OF = 3

/** Picks the peers that this node grafts; those that graft it, as its predecessor on the ring does, are not among them. */
export function pickNeighbours(self: string, peers: readonly string[], topic: string): readonly string[] {
  if (peers.length <= ALL_OF) return peers
  const encoder = new TextEncoder()
  const places = [self, ...peers].map((peer) => {
    const digest = new DataView(sha256(encoder.encode(`${topic}/${peer}`)).buffer)
    return { peer, ring: digest.getBigUint64(0), chord: digest.getBigUint64(8) }
  })
  const after = (at: 'ring' | 'chord') => {
    const order = places.toSorted((a, b) => (a[at] < b[at] ? -1 : 1)).map(({ peer }) => peer)
    return { order, own: order.indexOf(self) }
  }
  const ring = after('ring')
  const chord = after('chord')
  const successor = ring.order[(ring.own + 1) % ring.order.length]
  // the first pairs with the second, the third with the fourth, and so on
  const partner = chord.order[chord.own % 2 === 0 ? chord.own + 1 : chord.own - 1]
  // one end of each chord is enough to make it
  const chords = partner !== undefined && self < partner ? [partner] : []
  return [...new Set([successor, ...chords])].filter((peer) => peer !== undefined)
}

/** Leaves out the peers of a topic that only a relay joins which is on the topic itself, and passes messages on. */
export function apartFromRelayed(
  peers: readonly string[],
  connections: readonly Pick<Connection, 'remotePeer' | 'remoteAddr' | 'direct' | 'status'>[],
): readonly string[] {
  const passing = new Set(peers)
  const direct = new Set<string>()
  const relayed = new Set<string>()
  for (const connection of connections) {
    if (connection.status === 'open' && connection.direct) direct.add(connection.remotePeer.toString())
  }
  for (const { status, remotePeer, remoteAddr } of connections) {
    const relay = relayOf(remoteAddr)
    if (status !== 'open' || relay === undefined || !direct.has(relay) || !passing.has(relay)) continue
    relayed.add(remotePeer.toString())
  }
  return peers.filter((peer) => direct.has(peer) || !relayed.has(peer))
}

/**
 * What this node knows of each peer, readable without waiting: a mirror of libp2p's peer store, with what went wrong.
 * Bounded: beyond the limit the unconnected peer that was silent longest is forgotten, strangers before members.
 */
import type { Connection, IdentifyResult, Libp2p, Peer } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { transportOf } from '../addresses/address-rules.ts'
import { bestConnections, connectionsTo } from '../libp2p/connections.ts'
import { MAX_KNOWN_PEERS, MAX_PEER_ADDRESSES } from '../limits.ts'
import type { PeerStatus } from '../p2p-node.ts'

/** How the peer is reached is known elsewhere. */
type BookedPeer = Omit<PeerStatus, 'reach'>

export interface PeerBook {
  all(): readonly BookedPeer[]
  get(peer: string): BookedPeer | undefined
  /** What the peer itself said last, and what others told of it. */
  addressesOf(peer: string): readonly Multiaddr[]
  /** Heard of, with where it may be. */
  noteFound(peer: string, addresses: readonly Multiaddr[]): void
  noteError(peer: string, words: string): void
  noteRtt(peer: string, rttMs: number): void
  /** What a member says that it is called. */
  noteName(peer: string, name: string): void
  /** Something came from the peer, or went wrong no more. */
  noteSeen(peer: string): void
  /** Protocols that identify named. */
  protocols(peer: string): readonly string[]
  stop(): void
}

export interface PeerBookInit {
  readonly host: Libp2p
  readonly isMember: (peer: string) => boolean
  readonly clock: Clock
  /** Default `MAX_KNOWN_PEERS`. */
  readonly limit?: number
}

const MAX_AGENT_LENGTH = 128

interface Known {
  /** By identify. */
  addresses: readonly string[]
  /** By those who found it. */
  told: readonly string[]
  protocols: readonly string[]
  agent: string | undefined
  name: string | undefined
  rttMs: number | undefined
  lastSeen: number | undefined
  lastError: string | undefined
  /** Order of arrival, for peers that were never seen alive. */
  readonly since: number
}

export function createPeerBook(init: PeerBookInit): PeerBook {
  const { host, isMember, clock, limit = MAX_KNOWN_PEERS } = init
  const known = new Map<string, Known>()
  const self = host.peerId.toString()

  function entry(peer: string): Known {
    const found = known.get(peer)
    if (found !== undefined) return found
    const made: Known = {
      addresses: [],
      told: [],
      protocols: [],
      agent: undefined,
      name: undefined,
      rttMs: undefined,
      lastSeen: undefined,
      lastError: undefined,
      since: clock.now(),
    }
    known.set(peer, made)
    if (known.size > limit) forgetOne()
    return made
  }

  /** Members first to stay, then the ones seen last. */
  function forgetOne(): void {
    const connected = new Set(host.getConnections().map(({ remotePeer }) => remotePeer.toString()))
    let worst: string | undefined
    let worstRank = Number.POSITIVE_INFINITY
    for (const [peer, { lastSeen, since }] of known) {
      if (connected.has(peer)) continue
      const rank = (isMember(peer) ? 1e15 : 0) + (lastSeen ?? since)
      if (rank < worstRank) [worst, worstRank] = [peer, rank]
    }
    if (worst === undefined) return
    known.delete(worst)
    host.peerStore.delete(peerIdFromString(worst)).catch(() => {})
  }

  function onPeer(event: CustomEvent<{ peer: Peer }>): void {
    const { id, addresses, protocols } = event.detail.peer
    const peer = id.toString()
    if (peer === self) return
    const target = entry(peer)
    target.addresses = addresses.slice(0, MAX_PEER_ADDRESSES).map(({ multiaddr }) => multiaddr.toString())
    target.protocols = protocols
  }
  const onIdentify = ({ detail }: CustomEvent<IdentifyResult>) => {
    entry(detail.peerId.toString()).agent = detail.agentVersion?.slice(0, MAX_AGENT_LENGTH)
  }
  const onOpen = (event: CustomEvent<Connection>) => {
    const target = entry(event.detail.remotePeer.toString())
    target.lastSeen = clock.now()
    target.lastError = undefined
  }
  const onClose = (event: CustomEvent<Connection>) => {
    const target = known.get(event.detail.remotePeer.toString())
    if (target !== undefined) target.lastSeen = clock.now()
  }
  host.addEventListener('peer:update', onPeer)
  host.addEventListener('peer:identify', onIdentify)
  host.addEventListener('connection:open', onOpen)
  host.addEventListener('connection:close', onClose)

  function status(peer: string, from: Known, used: Connection | undefined): BookedPeer {
    return {
      id: peer,
      connected: used !== undefined,
      member: isMember(peer),
      path: used === undefined ? undefined : used.direct ? 'direct' : 'relayed',
      transport: used === undefined ? undefined : transportOf(used.remoteAddr),
      addresses: addressesIn(from, used),
      rttMs: from.rttMs,
      lastSeen: used === undefined ? from.lastSeen : clock.now(),
      lastError: from.lastError,
      agent: from.agent,
      name: from.name,
    }
  }

  return {
    all() {
      const used = bestConnections(host)
      return [...known].map(([peer, from]) => status(peer, from, used.get(peer)))
    },
    get(peer) {
      const from = known.get(peer)
      return from === undefined ? undefined : status(peer, from, connectionsTo(host, peer)[0])
    },
    addressesOf(peer) {
      const from = known.get(peer)
      return [...new Set([...(from?.addresses ?? []), ...(from?.told ?? [])])].map((text) => multiaddr(text))
    },
    noteFound(peer, addresses) {
      if (peer !== self) entry(peer).told = addresses.slice(0, MAX_PEER_ADDRESSES).map(String)
    },
    noteError(peer, words) {
      entry(peer).lastError = words
    },
    noteRtt(peer, rttMs) {
      entry(peer).rttMs = rttMs
    },
    noteName(peer, name) {
      entry(peer).name = name
    },
    noteSeen(peer) {
      entry(peer).lastSeen = clock.now()
    },
    protocols: (peer) => known.get(peer)?.protocols ?? [],
    stop() {
      host.removeEventListener('peer:update', onPeer)
      host.removeEventListener('peer:identify', onIdentify)
      host.removeEventListener('connection:open', onOpen)
      host.removeEventListener('connection:close', onClose)
    },
  }
}

/** For people: what it says of itself, else what is used, else what others told. */
function addressesIn({ addresses, told }: Known, used: Connection | undefined): readonly string[] {
  if (addresses.length > 0) return addresses
  return used === undefined ? told : [used.remoteAddr.toString()]
}

/** The knowledge of each peer: a mirror of libp2p's peer store, with errors. */
import type { Connection, IdentifyResult, Libp2p, Peer } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { ipOf, transportOf } from '../addresses/address-rules.ts'
import { usableAddresses } from '../addresses/usable-addresses.ts'
import { bestConnections, connectionsTo, isSameHost, relayOfConnection } from '../libp2p/connections.ts'
import { MAX_KNOWN_PEERS, MAX_PEER_ADDRESSES } from '../limits.ts'
import { MAX_PEER_PROTOCOLS } from './limits.ts'
import type { PeerStatus } from '../p2p-node.ts'
import { type KnownPeer, KnownPeers } from './known-peers.ts'

/** The book's page on a peer; how the peer is reached is known elsewhere. */
export type BookedPeer = Omit<PeerStatus, 'reach' | 'foundBy'>

interface PeerBookInit {
  readonly host: Libp2p
  readonly isMember: (peer: string) => boolean
  readonly clock: Clock
  /** The most peers that are kept; `MAX_KNOWN_PEERS` by default. */
  readonly limit?: number
}

/** The longest agent version that is kept, in characters. */
const MAX_AGENT_LENGTH = 128

/** Creates the book of one host, which it listens to until `stop`. */
export class PeerBook {
  readonly #init: PeerBookInit
  readonly #self: string
  readonly #known: KnownPeers

  constructor(init: PeerBookInit) {
    const { host, isMember, clock, limit = MAX_KNOWN_PEERS } = init
    this.#init = init
    this.#self = host.peerId.toString()
    this.#known = new KnownPeers({
      clock,
      limit,
      isMember,
      connected: () => new Set(host.getConnections().map(({ remotePeer }) => remotePeer.toString())),
      onForgotten: (peer) => void host.peerStore.delete(peerIdFromString(peer)).catch(() => {}),
    })
    host.addEventListener('peer:update', this.#onPeer)
    host.addEventListener('peer:identify', this.#onIdentify)
    host.addEventListener('connection:open', this.#onOpen)
    host.addEventListener('connection:close', this.#onClose)
  }

  stop(): void {
    const { host } = this.#init
    host.removeEventListener('peer:update', this.#onPeer)
    host.removeEventListener('peer:identify', this.#onIdentify)
    host.removeEventListener('connection:open', this.#onOpen)
    host.removeEventListener('connection:close', this.#onClose)
  }

  all(): readonly BookedPeer[] {
    const used = bestConnections(this.#init.host)
    return [...this.#known.all()].map(([peer, from]) => this.#status(peer, from, used.get(peer)))
  }

  get(peer: string): BookedPeer | undefined {
    const from = this.#known.get(peer)
    if (from === undefined) return undefined
    return this.#status(peer, from, connectionsTo(this.#init.host, peer)[0])
  }

  /** Gives the addresses that the peer itself named last, and those that others told of it. */
  addressesOf(peer: string): readonly Multiaddr[] {
    const from = this.#known.get(peer)
    const texts = new Set([...(from?.addresses ?? []), ...(from?.told ?? [])])
    return [...texts].map((text) => multiaddr(text))
  }

  /** Somebody told of the peer, and where it may be. */
  noteFound(peer: string, addresses: readonly Multiaddr[]): void {
    if (peer === this.#self) return
    this.#known.entry(peer).told = addresses.slice(0, MAX_PEER_ADDRESSES).map(String)
  }

  /** A dial or stream to the peer failed, said in words. */
  noteError(peer: string, words: string): void {
    this.#known.entry(peer).lastError = words
  }

  noteRtt(peer: string, rttMs: number): void {
    this.#known.entry(peer).rttMs = rttMs
  }

  /** A member says what it is called. */
  noteName(peer: string, name: string): void {
    this.#known.entry(peer).name = name
  }

  /** Something came from the peer. */
  noteSeen(peer: string): void {
    this.#known.entry(peer).lastSeen = this.#init.clock.now()
  }

  /** Forgets the peer, here and in libp2p's peer store. False when it was not known. */
  async forget(peer: string): Promise<boolean> {
    // before the entry goes: the store tells of the peer's last change until then, which would make a new entry
    await this.#init.host.peerStore.delete(peerIdFromString(peer))
    const isKnown = this.#known.forget(peer)
    if (connectionsTo(this.#init.host, peer).length > 0) this.noteSeen(peer)
    return isKnown
  }

  /** Gives the protocols that the peer named by identify. */
  protocols(peer: string): readonly string[] {
    return this.#known.get(peer)?.protocols ?? []
  }

  #status(peer: string, from: KnownPeer, used: Connection | undefined): BookedPeer {
    return {
      id: peer,
      connected: used !== undefined,
      member: this.#init.isMember(peer),
      path: used === undefined ? undefined : used.direct ? 'direct' : 'relayed',
      relay: used === undefined ? undefined : relayOfConnection(this.#init.host, used),
      transport: used === undefined ? undefined : transportOf(used.remoteAddr),
      remoteIp: used === undefined ? undefined : ipOf(used.remoteAddr),
      addresses: addressesIn(from, used),
      rttMs: from.rttMs,
      lastSeen: used === undefined ? from.lastSeen : this.#init.clock.now(),
      lastError: from.lastError,
      agent: from.agent,
      name: from.name,
    }
  }

  readonly #onPeer = (event: CustomEvent<{ peer: Peer }>): void => {
    const { id, addresses, protocols } = event.detail.peer
    const peer = id.toString()
    if (peer === this.#self) return
    const target = this.#known.entry(peer)
    // as long as it is known: it says so again when it is gone
    target.isSameHost ||= isSameHost(this.#init.host, peer)
    target.addresses = usableAddresses(
      addresses.map((address) => address.multiaddr),
      { self: this.#self, sameHost: target.isSameHost },
    ).map(String)
    target.protocols = protocols.slice(0, MAX_PEER_PROTOCOLS)
  }

  readonly #onIdentify = ({ detail }: CustomEvent<IdentifyResult>): void => {
    this.#known.entry(detail.peerId.toString()).agent = detail.agentVersion?.slice(0, MAX_AGENT_LENGTH)
  }

  readonly #onOpen = (event: CustomEvent<Connection>): void => {
    const target = this.#known.entry(event.detail.remotePeer.toString())
    target.lastSeen = this.#init.clock.now()
    target.lastError = undefined
  }

  readonly #onClose = (event: CustomEvent<Connection>): void => {
    const target = this.#known.get(event.detail.remotePeer.toString())
    if (target !== undefined) target.lastSeen = this.#init.clock.now()
  }
}

/** Chooses for people: the addresses that the peer itself named, else the one in use, else what others told. */
function addressesIn({ addresses, told }: KnownPeer, used: Connection | undefined): readonly string[] {
  if (addresses.length > 0) return addresses
  return used === undefined ? told : [used.remoteAddr.toString()]
}

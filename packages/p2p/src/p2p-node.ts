import type { PeerId } from '@mesh/core'
import type { PathReport } from './path-reports/path-report.ts'

/** One message of the network's ledger topic, opened and its signature checked. */
export interface TopicMessage {
  /** The author who signed it, never the hop that forwarded it. */
  readonly author: PeerId
  /** The message's bytes, unsealed. */
  readonly plaintext: Uint8Array
  /** The peer that passed it on, which is the author or any other. */
  readonly from: string
}

/** The network's sealed gossip topic; its key and name rotate underneath. */
export interface GossipTopic {
  /** Seals and sends; resolves with how many peers it went to (0 while alone). Never loses a message to rotation. */
  publish(plaintext: Uint8Array): Promise<number>
  /**
   * Tells each message once, before it is passed on. A listener that gives false refuses it, for want of memory or
   * time: such a message is not passed on. Whoever needs long to judge a message does so afterwards.
   */
  onMessage(listener: (message: TopicMessage) => unknown): () => void
  /**
   * Says that the author of a message holds the network's key, because of what stands in the message: a sealed text
   * alone proves nothing, since whoever saw it can sign it anew. Counts for peers that have no proof of their own.
   */
  noteMember(author: PeerId): void
  /** Gives the other members that are on the topic now. */
  peers(): readonly PeerId[]
  /** Tells the members that come to the topic and go from it. */
  onPeer(listener: (peer: PeerId, present: boolean) => void): () => void
}

/** A stream of bounded messages (varint length prefix) to one member; ends with either side. */
export interface Channel {
  readonly peer: PeerId
  /** The group under which bounds by address count it: an IPv4 address, or a /64 of IPv6. */
  readonly address?: string | undefined
  /** False when it goes over a relay. */
  readonly direct: boolean
  /** `tcp tls` for a TLS connection beside libp2p's; undefined over libp2p. */
  readonly transport?: string | undefined
  /** Sends a message; resolves when more may follow (backpressure). @throws MeshError `p2p.channel_closed` */
  send(message: Uint8Array): Promise<void>
  /** Gives the messages that come, until the remote closes; throws when the stream broke or a message was over the bound. */
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

export interface ChannelOptions {
  /** The longest message in bytes; longer ones abort the channel. */
  readonly maxMessageBytes: number
  /** The most inbound channels of one peer at a time; more are reset. */
  readonly maxPerPeer?: number
  /** The channel may go over a TLS connection of its own where one is ready, which carries more. Default false. */
  readonly bulk?: boolean
  /** Peers that proved the network's key and are kept out by `Admission` are served, too. Default false. */
  readonly ungated?: boolean
}

/** Decides which holders of the network's key may use it. A peer that loses the right loses its connections at once. */
export interface Admission {
  mayUse(peer: string): boolean
  /** True for a peer with which there is nothing to talk about: no connection is made or taken. */
  isBanned(peer: string): boolean
  /** Calls the listener after answers changed; the returned function ends it. */
  onChange(listener: () => void): () => void
}

/** The access rules of the network, for pairs of members: a pair that may not talk gets no circuit over a relay. */
export interface PairRules {
  mayTalk(one: string, other: string): boolean
  /** Calls the listener after answers changed; the returned function ends it. */
  onChange(listener: () => void): () => void
}

/** Words of a node that is not trusted yet: the open part of a message on the public topic. */
export interface PublicMessage {
  /** The author who signed it, never the hop that forwarded it. */
  readonly author: PeerId
  readonly text: string
  /** The annotation `sigs`, as text; '' when there is none. */
  readonly signature: string
}

/** The network's public topic: sealed with the network's key, and heard from members who are kept out, too. */
export interface PublicTopic {
  publish(message: Pick<PublicMessage, 'text' | 'signature'>): Promise<number>
  onMessage(listener: (message: PublicMessage) => void): () => void
}

/** Channels on our own protocols (`/mesh/NAME/MAJOR`), all between members who proved the network's key. */
export interface Channels {
  handle(
    protocol: string,
    options: ChannelOptions,
    handler: (channel: Channel) => Promise<void>,
  ): Promise<void>
  /**
   * Connects first where no connection stands, as `P2pNode.connect` does. A channel over a relay ends some seconds
   * after a direct connection came (`onPath` tells); one that is opened from then on is direct.
   * @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported`
   */
  open(
    peer: PeerId,
    protocol: string,
    options: ChannelOptions & { readonly signal?: AbortSignal },
  ): Promise<Channel>
  /** Gives the proven members with a live connection that speak the protocol. */
  peersWith(protocol: string, options?: { readonly ungated?: boolean }): readonly PeerId[]
  /** Calls the listener as such members come and go; with `ungated` those that are kept out, too. */
  onPeerWith(
    protocol: string,
    listener: (peer: PeerId, present: boolean) => void,
    options?: { readonly ungated?: boolean },
  ): () => void
}

/** Raw bytes between two members, over one libp2p stream or a TLS connection. One listener of each kind: a later one takes its place. */
export interface ByteStream {
  readonly peer: PeerId
  /** False when it goes over a relay. */
  readonly direct: boolean
  /** `tcp tls` for a TLS connection beside libp2p's; undefined over libp2p. */
  readonly transport?: string
  /** The group under which bounds by address count it: an IPv4 address, or a /64 of IPv6. */
  readonly address?: string
  /**
   * Takes the bytes in every case, to keep; false: no more before `onDrain`. After the end it does nothing. Blocks of
   * 65,507 bytes (`65535 - 16 - 12`) fill one noise message each: slightly longer ones cost a second message.
   */
  send(bytes: Uint8Array): boolean
  onDrain(listener: () => void): void
  /** Calls the listener with the bytes in order, cut anywhere. What came before is kept, within the stream's window, until somebody listens. */
  onBytes(listener: (bytes: Uint8Array) => void): void
  /**
   * Calls the listener once, also when it had ended before: without an error when the remote closed and everything was read (both directions
   * end then; with `halfClose` only when this side ended, too), or when this side's `close` is done.
   */
  onEnd(listener: (error: Error | undefined) => void): void
  /**
   * Ends this side's direction, with `halfClose`, when what waits was sent, however long the remote takes. Without
   * `halfClose` it is `close`. Calls after the first do nothing.
   */
  end(): void
  /** Calls the listener once, with `halfClose`, when all was handed on that the remote sent before it ended its side. */
  onRemoteEnd(listener: () => void): void
  /** Stops the calls of `onBytes`; the remote is slowed down once the stream's window is full. */
  pause(): void
  resume(): void
  /** Sends what waits, then ends both directions; bounded in time. */
  close(): void
  abort(reason: Error): void
}

interface ByteStreamOptions {
  /** `proven`: members that proved the network's key. `heard`: legacy members too, that authored a sealed message. */
  readonly from: 'proven' | 'heard'
  /** True: streams go over relays, too. */
  readonly relayed: boolean
  /** True when each direction ends for itself; false by default. */
  readonly halfClose?: boolean
  /** Streams of proven members go over TLS connections of their own where both sides say so. Default false. */
  readonly bulk?: boolean
  /** Peers that proved the network's key and are kept out by `Admission` are served, too. Default false. */
  readonly ungated?: boolean
}

interface ServedStreamOptions extends ByteStreamOptions {
  /** The most streams of one peer at a time. */
  readonly maxPerPeer: number
}

export interface ByteStreams {
  /**
   * Serves a protocol. With `proven` a stream waits until its connection proved membership. Streams of other peers, and more than
   * `maxPerPeer` of one peer at a time, are reset and counted.
   */
  handle(protocol: string, options: ServedStreamOptions, handler: (stream: ByteStream) => void): Promise<void>
  /**
   * Opens a stream on the best connection there is; makes a connection where there is none. With `from: 'heard'` the
   * connection needs no proof, and what is sent first goes along with the protocol's name: that the peer does not
   * speak it shows as `onEnd`.
   * @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported`
   */
  open(
    peer: PeerId,
    protocol: string,
    options: ByteStreamOptions & {
      /** True makes what is sent first go along with the protocol's name, which saves a round trip. */
      readonly lazy?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<ByteStream>
  /** Makes TLS connections to a connected peer ready, so that a stream with `bulk` costs no handshake. */
  prepare(peer: PeerId): void
}

/** The traffic over the network, in bytes. */
export interface BandwidthStats {
  /** The bytes received since the start. */
  readonly totalIn: number
  /** The bytes sent since the start. */
  readonly totalOut: number
  /** The bytes received in a second, over the last 10 s. */
  readonly rateIn: number
  /** The bytes sent in a second, over the last 10 s. */
  readonly rateOut: number
}

export interface Bandwidth {
  total(): BandwidthStats
  byProtocol(): ReadonlyMap<string, BandwidthStats>
  /** Gives what each peer sent and received, by its base58 id. */
  byPeer(): ReadonlyMap<string, BandwidthStats>
}

/** This node's knowledge of one peer. */
export interface PeerStatus {
  readonly id: string
  readonly connected: boolean
  /** True when the peer proved membership, or authored a message that could be unsealed. */
  readonly member: boolean
  readonly path: 'direct' | 'relayed' | undefined
  /** The peer that relays; undefined for a direct path, and where the relay is not known. */
  readonly relay: string | undefined
  /** `tcp`, `quic-v1`, `webrtc`, `ws` and the like; undefined while not connected. */
  readonly transport: string | undefined
  /** The IP address at the other end of the connection in use, which over a relay is the relay's. */
  readonly remoteIp: string | undefined
  readonly addresses: readonly string[]
  /** The round trip that was measured last, in ms. */
  readonly rttMs: number | undefined
  /** When the peer was last seen alive, in unix ms. */
  readonly lastSeen: number | undefined
  /** Why the last dial or stream failed, in words. */
  readonly lastError: string | undefined
  /** The agent version that the peer told by libp2p's identify. */
  readonly agent: string | undefined
  /** One line on reaching the peer: known, tried, next; undefined when there is nothing yet. */
  readonly reach: string | undefined
  /** The ways of discovery that found it, by their names in `discovery()`; `incoming`: it dialled this node first. */
  readonly foundBy: readonly string[]
  /** The name that a proven member gives itself: a DNS label, which others may have too. */
  readonly name: string | undefined
}

export type P2pEvent =
  /** The peer is connected, or reached another way than before. */
  | { readonly type: 'peer.connected'; readonly peer: string; readonly path: 'direct' | 'relayed' }
  /** The peer's last connection ended, or all that it has are in doubt. */
  | { readonly type: 'peer.disconnected'; readonly peer: string }
  /** A non-member or a bad message was refused; counted by `code`. */
  | {
      readonly type: 'refused'
      readonly code: string
      readonly peer: string | undefined
      readonly protocol: string | undefined
    }

/** A running libp2p host in one network. */
export interface P2pNode {
  readonly self: PeerId
  readonly topic: GossipTopic
  /** Undefined unless it was asked for. */
  readonly publicTopic: PublicTopic | undefined
  readonly channels: Channels
  readonly streams: ByteStreams
  readonly bandwidth: Bandwidth
  /** Gives the addresses that others can dial, each with `/p2p/ID`. */
  addresses(): readonly string[]
  /** Gives all known peers, this node excluded. */
  peers(): readonly PeerStatus[]
  peer(id: PeerId): PeerStatus | undefined
  /** Tells whether a peer speaks a protocol; undefined when it is not connected, or has not said yet. */
  speaks(peer: PeerId, protocol: string): boolean | undefined
  /**
   * Connects; resolves when what the peer speaks is known, within 15 s. Any peer that this node has heard of is
   * dialled, twice if need be: over a relay when no direct way answers at once. Such a connection becomes direct in
   * the background where the networks allow it.
   * @throws MeshError `p2p.unreachable`
   */
  connect(peer: PeerId, signal: AbortSignal): Promise<void>
  /**
   * Learns of a peer from its id, or from an address that ends with it, and gives the id. The node tries the address from now on.
   * @throws MeshError `p2p.bad_peer_address`
   */
  addPeer(address: string): PeerId
  /** Closes the connections to a peer and forgets its addresses; it may be found again. False when the peer was not known. */
  forget(peer: PeerId): Promise<boolean>
  /**
   * Says how this node and the connected members reach each other, as each tells; this node comes first. Members whose report
   * is old are asked in the background, so that a later call has the new one.
   */
  pathReports(): readonly PathReport[]
  /** Calls the listener after a connection opened, closed, became direct, or came into doubt or out of it. */
  onPath(listener: (peer: PeerId) => void): () => void
  /** Calls the listener when a connection to a peer stays silent after a check: new streams use another one. */
  onDoubt(listener: (peer: PeerId) => void): () => void
  /** Says what each method of finding and reaching peers did and what went wrong, for health and diagnostics. */
  discovery(): readonly {
    /** The method's name, such as `mdns` or `dht`. */
    readonly method: string
    readonly enabled: boolean
    /** The number of peers found; undefined for what finds none but helps to be reached, as relays and transports do. */
    readonly found: number | undefined
    readonly lastError: string | undefined
  }[]
  /** Gives the number of refusals since the start, by code. */
  refusals(): Readonly<Record<string, number>>
  subscribe(listener: (event: P2pEvent) => void): () => void
  /** Measures a round trip now, in milliseconds. */
  ping(peer: PeerId, signal?: AbortSignal): Promise<number>
  /**
   * Asks the peer's connections, where there is a reason to doubt them: `onDoubt` tells of those that are silent for a
   * second. They end after 2 s over UDP and 20 s over TCP, and after a minute once the signal is aborted. Never rejects.
   */
  endDead(peer: PeerId, signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

import type { PeerId } from '@mesh/core'

/** One message of the network's ledger topic, opened and its signature checked. */
export interface RoomMessage {
  /** The signed author, never the hop that forwarded it. */
  readonly author: PeerId
  /** The unsealed bytes. */
  readonly plaintext: Uint8Array
}

/** The network's sealed gossip topic; key and topic rotate underneath. */
export interface Room {
  /** Seals and sends; resolves with how many peers it went to (0 while alone). Never loses a message to rotation. */
  publish(plaintext: Uint8Array): Promise<number>
  onMessage(listener: (message: RoomMessage) => void): () => void
  /** Other members on the topic now. */
  peers(): readonly PeerId[]
  /** Tells members that come to the topic and go from it. */
  onPeer(listener: (peer: PeerId, present: boolean) => void): () => void
}

/** A stream of bounded messages (varint length prefix) to one member; ends with either side. */
export interface Channel {
  readonly peer: PeerId
  /** False over a relay. */
  readonly direct: boolean
  /** Resolves when it may be followed by more (backpressure). @throws MeshError `p2p.channel_closed` */
  send(message: Uint8Array): Promise<void>
  /** Ends when the remote closed; throws when the stream broke or a message was over the bound. */
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

export interface ChannelOptions {
  /** Longest message in bytes; longer ones abort the channel. */
  readonly maxMessageBytes: number
  /** Number of inbound channels of one peer at a time; more are reset. */
  readonly maxPerPeer?: number
  /** The channel may go over a TLS connection of its own where one is ready, which carries more. Default false. */
  readonly bulk?: boolean
}

/** Own protocols (`/mesh/NAME/MAJOR`): every channel is between members who proved the network's key. */
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
  /** Proven members with a live connection that speak the protocol. */
  peersWith(protocol: string): readonly PeerId[]
  onPeerWith(protocol: string, listener: (peer: PeerId, present: boolean) => void): () => void
}

/** Raw bytes between two members, over one libp2p stream or a TLS connection. One listener of each kind: a later one takes its place. */
export interface ByteStream {
  readonly peer: PeerId
  /** False over a relay. */
  readonly direct: boolean
  /** `tcp tls` for a TLS connection beside libp2p's; undefined over libp2p. */
  readonly transport?: string
  /**
   * Takes the bytes in every case, to keep; false: no more before `onDrain`. After the end it does nothing. Blocks of
   * 65,507 bytes (`65535 - 16 - 12`) fill one noise message each: slightly longer ones cost a second message.
   */
  send(bytes: Uint8Array): boolean
  onDrain(listener: () => void): void
  /** In order, cut anywhere. What came before is kept, within the stream's window, until somebody listens. */
  onBytes(listener: (bytes: Uint8Array) => void): void
  /**
   * Once, also when it had ended before: no error when the remote closed and everything was read (both directions
   * end then; with `halfClose` only when this side ended, too), or when this side's `close` is done.
   */
  onEnd(listener: (error: Error | undefined) => void): void
  /**
   * With `halfClose`: sends what waits, however long the remote takes, then ends this side's direction only. Without
   * it: `close`. Idempotent.
   */
  end(): void
  /** With `halfClose`, once: the remote sends no more, and all that it sent was handed on. This side may go on. */
  onRemoteEnd(listener: () => void): void
  /** Stops `onBytes`; the remote is slowed down once the stream's window is full. */
  pause(): void
  resume(): void
  /** Sends what waits, then ends both directions; bounded in time. */
  close(): void
  abort(reason: Error): void
}

export interface ByteStreams {
  /**
   * Serves a protocol. `from`: `proven` holds a stream back until its connection proved membership; `heard` takes
   * members of older networks too, who authored a sealed message. Others, and more than `maxPerPeer` at a time, are
   * reset and counted. Relayed streams come only with `relayed`.
   */
  handle(
    protocol: string,
    options: {
      readonly from: 'proven' | 'heard'
      /** Number of streams of one peer at a time. */
      readonly maxPerPeer: number
      readonly relayed: boolean
      /** Each direction ends for itself; default false. */
      readonly halfClose?: boolean
      /** Streams of proven members come over TLS connections of their own, too. Default false. */
      readonly bulk?: boolean
    },
    handler: (stream: ByteStream) => void,
  ): Promise<void>
  /**
   * Opens one on the best connection there is; makes a connection where there is none. With `from: 'heard'` the
   * connection needs no proof, and what is sent first goes along with the protocol's name: that the peer does not
   * speak it shows as `onEnd`.
   * @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported`
   */
  open(
    peer: PeerId,
    protocol: string,
    options: {
      readonly from: 'proven' | 'heard'
      readonly relayed: boolean
      /** Each direction ends for itself; default false. */
      readonly halfClose?: boolean
      /** As with `heard`: what is sent first goes along with the protocol's name, which saves a round trip. */
      readonly lazy?: boolean
      /** A TLS connection is used where one is ready or soon is; the other side must serve it so. Default false. */
      readonly bulk?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<ByteStream>
  /** Makes TLS connections to a connected peer ready, so that a stream with `bulk` costs no handshake. */
  prepare(peer: PeerId): void
}

/** What went over the network. */
export interface BandwidthStats {
  /** Bytes received since the start. */
  readonly totalIn: number
  /** Bytes sent since the start. */
  readonly totalOut: number
  /** Bytes received per second, over the last 10 s. */
  readonly rateIn: number
  /** Bytes sent per second, over the last 10 s. */
  readonly rateOut: number
}

export interface Bandwidth {
  total(): BandwidthStats
  byProtocol(): ReadonlyMap<string, BandwidthStats>
  /** By base58 peer id. */
  byPeer(): ReadonlyMap<string, BandwidthStats>
}

/** What this node knows of one peer. */
export interface PeerStatus {
  readonly id: string
  readonly connected: boolean
  /** Proved membership, or authored a message that could be unsealed. */
  readonly member: boolean
  readonly path: 'direct' | 'relayed' | undefined
  /** `tcp`, `quic-v1`, `webrtc`, `ws`, ... */
  readonly transport: string | undefined
  readonly addresses: readonly string[]
  /** Last measured round trip in milliseconds. */
  readonly rttMs: number | undefined
  /** Unix ms. */
  readonly lastSeen: number | undefined
  /** The last failed dial or reset, in words. */
  readonly lastError: string | undefined
  /** libp2p identify's agent version. */
  readonly agent: string | undefined
  /** What is known of reaching it, what was tried and what comes next, in one line; undefined: nothing yet. */
  readonly reach: string | undefined
  /** What a proven member says that it is called: a DNS label, which others may have too. */
  readonly name: string | undefined
}

export type P2pEvent =
  | { readonly type: 'peer.connected'; readonly peer: string; readonly path: 'direct' | 'relayed' }
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
  readonly room: Room
  readonly channels: Channels
  readonly streams: ByteStreams
  readonly bandwidth: Bandwidth
  /** Addresses that others can dial, each with `/p2p/ID`. */
  addresses(): readonly string[]
  /** All peers of the peerstore, self excluded. */
  peers(): readonly PeerStatus[]
  peer(id: PeerId): PeerStatus | undefined
  /** Does a connected peer speak the protocol? Undefined: not connected, or it has not said yet. */
  speaks(peer: PeerId, protocol: string): boolean | undefined
  /**
   * Resolves when connected and what the peer speaks is known, within 15 s. Any peer that this node has heard of is
   * dialled, twice if need be: over a relay when no direct way answers at once. Such a connection becomes direct in
   * the background where the networks allow it.
   * @throws MeshError `p2p.unreachable`
   */
  connect(peer: PeerId, signal: AbortSignal): Promise<void>
  /** After each connection that opened or closed, so too when a relayed one became direct. */
  onPath(listener: (peer: PeerId) => void): () => void
  /** What each way of finding and reaching peers did and what went wrong, for health and diagnostics. */
  discovery(): readonly {
    readonly way: string
    readonly enabled: boolean
    /** Peers; undefined for what finds none but helps to be reached, as relays and transports do. */
    readonly found: number | undefined
    readonly lastError: string | undefined
  }[]
  /** Counted refusals by code. */
  refusals(): Readonly<Record<string, number>>
  subscribe(listener: (event: P2pEvent) => void): () => void
  /** Measures a round trip now, in milliseconds. */
  ping(peer: PeerId, signal?: AbortSignal): Promise<number>
  stop(): Promise<void>
}

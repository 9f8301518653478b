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
  /** Inbound channels of one peer at a time; more are reset. */
  readonly maxPerPeer?: number
}

/** Own protocols (`/mesh/NAME/MAJOR`): every channel is between members who proved the network's key. */
export interface Channels {
  handle(
    protocol: string,
    options: ChannelOptions,
    handler: (channel: Channel) => Promise<void>,
  ): Promise<void>
  /** @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported` */
  open(
    peer: PeerId,
    protocol: string,
    options: ChannelOptions & { readonly signal?: AbortSignal },
  ): Promise<Channel>
  /** Proven members with a live connection that speak the protocol. */
  peersWith(protocol: string): readonly PeerId[]
  onPeerWith(protocol: string, listener: (peer: PeerId, present: boolean) => void): () => void
}

/** Bytes and bytes per second (over 10 s). */
export interface BandwidthStats {
  readonly totalIn: number
  readonly totalOut: number
  readonly rateIn: number
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
  readonly bandwidth: Bandwidth
  /** Addresses that others can dial, each with `/p2p/ID`. */
  addresses(): readonly string[]
  /** All peers of the peerstore, self excluded. */
  peers(): readonly PeerStatus[]
  peer(id: PeerId): PeerStatus | undefined
  /** What each way of discovery did and what went wrong, for health and diagnostics. */
  discovery(): readonly {
    readonly way: string
    readonly enabled: boolean
    readonly found: number
    readonly lastError: string | undefined
  }[]
  /** Counted refusals by code. */
  refusals(): Readonly<Record<string, number>>
  subscribe(listener: (event: P2pEvent) => void): () => void
  /** Measures a round trip now, in milliseconds. */
  ping(peer: PeerId, signal?: AbortSignal): Promise<number>
  stop(): Promise<void>
}

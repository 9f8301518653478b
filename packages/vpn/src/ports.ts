/** What the VPN needs from the rest of a node; `apps/node` plugs `@mesh/p2p`, the ledger and the engine in. */
import type { Cidr, PeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'

/** Raw bytes between two members, over one libp2p stream. One listener of each kind: a later one takes its place. */
export interface ByteStream {
  readonly peer: PeerId
  /** False over a relay. */
  readonly direct: boolean
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
   * end then), or when this side's `close` is done.
   */
  onEnd(listener: (error: Error | undefined) => void): void
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
   * legacy members too, who authored a sealed message. Others, and more than `maxPerPeer` at a time, are
   * reset and counted. Relayed streams come only with `relayed`.
   */
  handle(
    protocol: string,
    options: {
      readonly from: 'proven' | 'heard'
      /** Number of streams of one peer at a time. */
      readonly maxPerPeer: number
      readonly relayed: boolean
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
      readonly signal?: AbortSignal
    },
  ): Promise<ByteStream>
}

/** Messages (length-prefixed) between members who proved the network's key. */
export interface VpnChannel {
  readonly peer: PeerId
  readonly direct: boolean
  send(message: Uint8Array): Promise<void>
  messages(): AsyncIterable<Uint8Array>
  close(): Promise<void>
  abort(reason: Error): void
}

export interface VpnChannels {
  handle(
    protocol: string,
    options: {
      readonly maxMessageBytes: number
      /** Number of inbound channels of one peer at a time; more are reset. */
      readonly maxPerPeer?: number
    },
    handler: (channel: VpnChannel) => Promise<void>,
  ): Promise<void>
  open(
    peer: PeerId,
    protocol: string,
    options: { readonly maxMessageBytes: number; readonly signal?: AbortSignal },
  ): Promise<VpnChannel>
  peersWith(protocol: string): readonly PeerId[]
  onPeerWith(protocol: string, listener: (peer: PeerId, present: boolean) => void): () => void
}

/** How a peer is connected now. */
export interface PeerPath {
  readonly path: 'direct' | 'relayed'
  /** `tcp`, `webrtc`, ... */
  readonly transport: string | undefined
  readonly rttMs: number | undefined
}

export interface VpnNetwork {
  readonly channels: VpnChannels
  readonly streams: ByteStreams
  /** Does a connected peer speak the protocol? Undefined: not connected, or it has not said yet. */
  speaks(peer: PeerId, protocol: string): boolean | undefined
  /** Resolves when connected and what it speaks is known. @throws MeshError `p2p.unreachable` */
  connect(peer: PeerId, signal: AbortSignal): Promise<void>
  /** Undefined: not connected. */
  pathOf(peer: PeerId): PeerPath | undefined
  /** After each connection that opened, closed or changed from relayed to direct. */
  onPath(listener: (peer: PeerId) => void): () => void
  /** Keeps the host out of these ranges. */
  blockRanges(ranges: readonly Cidr[]): void
  /** Round trip in milliseconds. */
  ping(peer: PeerId, signal?: AbortSignal): Promise<number>
}

export type VpnLedger = Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'put' | 'delete' | 'subscribe'>

/**
 * Services, files and egress need these ports from the rest of a node; `apps/node` plugs `@mesh/p2p` and the
 * ledger in.
 */
import type { PeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'

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
  /**
   * Calls the listener with the bytes in order, cut anywhere. What came before is kept, within the stream's
   * window, until somebody listens.
   */
  onBytes(listener: (bytes: Uint8Array) => void): void
  /**
   * Once, also when it had ended before: no error when both directions ended and everything was read, or when this
   * side's `close` is done. Without `halfClose` the end of one direction is that of both.
   */
  onEnd(listener: (error: Error | undefined) => void): void
  /**
   * Sends what waits, then ends, with `halfClose`, this side's direction only; the other one goes on.
   * Idempotent.
   */
  end(): void
  /**
   * Calls the listener once, with `halfClose`: the remote sends no more and all that it sent was handed on.
   * This side may still send.
   */
  onRemoteEnd(listener: () => void): void
  /** Stops `onBytes`; the remote is slowed down once the stream's window is full. */
  pause(): void
  resume(): void
  /** Sends what waits, then ends both directions; bounded in time. */
  close(): void
  /** Resets the stream: the remote's `onEnd` gets an error. */
  abort(reason: Error): void
}

/** Who may be at the other end of a stream, over what, and how it ends. */
export interface ByteStreamOptions {
  /** `proven`: the connection proved membership. `heard`: members of legacy networks, who cannot prove, too. */
  readonly from: 'proven' | 'heard'
  /** False: never over a relay. */
  readonly relayed: boolean
  /** Each direction ends for itself; default false: the end of one ends the other, too. */
  readonly halfClose?: boolean
  /** May be a TLS connection of its own where one is ready, which carries more; default false. */
  readonly bulk?: boolean
}

export interface ByteStreams {
  /** Serves a protocol. Others, and more than `maxPerPeer` at a time, are reset and counted. */
  handle(
    protocol: string,
    options: ByteStreamOptions & {
      /** Number of streams of one peer at a time. */ readonly maxPerPeer: number
    },
    handler: (stream: ByteStream) => void,
  ): Promise<void>
  /**
   * Opens one on the best connection there is; makes a connection where there is none. With `from: 'heard'` what is
   * sent first goes along with the protocol's name: that the peer does not speak it shows as `onEnd`.
   * @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported`
   */
  open(
    peer: PeerId,
    protocol: string,
    options: ByteStreamOptions & {
      /**
       * True as with `heard`: what is sent first goes along with the protocol's name, which saves a round
       * trip.
       */
      readonly lazy?: boolean
      readonly signal?: AbortSignal
    },
  ): Promise<ByteStream>
  /** Makes what a stream with `bulk` needs ready ahead, to a connected peer. */
  prepare(peer: PeerId): void
}

/** How a peer is connected now. */
export interface PeerPath {
  readonly path: 'direct' | 'relayed'
  /** The transport of the connection: `tcp`, `webrtc`, ... */
  readonly transport: string | undefined
  readonly rttMs: number | undefined
}

export interface ServicesNetwork {
  readonly self: PeerId
  readonly streams: ByteStreams
  /** Does a connected peer speak the protocol? Undefined: not connected, or it has not said yet. */
  speaks(peer: PeerId, protocol: string): boolean | undefined
  /** Resolves when connected and what it speaks is known. @throws MeshError `p2p.unreachable` */
  connect(peer: PeerId, signal: AbortSignal): Promise<void>
  /** Tells how the peer is connected; undefined when it is not. */
  pathOf(peer: PeerId): PeerPath | undefined
  /**
   * Asks the peer's connections whether they still carry something. One that stays silent for a second comes into doubt:
   * `pathOf` knows it no more, and `onPath` tells so. Resolves when all have answered or ended. Absent where connections
   * end by themselves.
   */
  check?(peer: PeerId): Promise<void>
  /** The IP address that a connected peer comes from, or that of the relay; undefined: not known. */
  addressOf(peer: PeerId): string | undefined
  /** After each connection that opened, closed or changed from relayed to direct. */
  onPath(listener: (peer: PeerId) => void): () => void
}

export type ServicesLedger = Pick<
  Ledger,
  'self' | 'mode' | 'snapshot' | 'put' | 'delete' | 'merge' | 'subscribe'
>

/**
 * Keeps an entry of this node announced for as long as the returned function was not called: written when it is
 * missing, taken when another owner's lease ends. `valueText` is JSON text, asked for each time that it is written.
 */
export type Announcer = (bucket: string, key: string, valueText: () => string) => () => void

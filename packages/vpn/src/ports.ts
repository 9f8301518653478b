/**
 * The VPN needs these ports from the rest of a node; `apps/node` plugs `@mesh/p2p`, the ledger and the engine
 * in.
 */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { Ledger } from '@mesh/ledger'

/** Raw bytes between two members, over one libp2p stream. One listener of each kind: a later one takes its place. */
export interface ByteStream {
  readonly peer: PeerId
  /** True when the connection is direct; false over a relay. */
  readonly direct: boolean
  /**
   * Takes the bytes in every case, and keeps them. False means that no more are to be sent before `onDrain`. After the
   * end it does nothing. Blocks of 65,507 bytes (`65535 - 16 - 12`) fill one Noise message each; slightly longer ones
   * cost a second message.
   */
  send(bytes: Uint8Array): boolean
  onDrain(listener: () => void): void
  /** Listens to the bytes, in order and cut anywhere. What came before is kept, within the stream's window. */
  onBytes(listener: (bytes: Uint8Array) => void): void
  /**
   * Calls the listener once, also when the stream had ended before. There is no error when the remote closed and
   * everything was read (both directions end then), or when this side's `close` is done.
   */
  onEnd(listener: (error: Error | undefined) => void): void
  /** Stops `onBytes` until `resume`; the remote is slowed down once the stream's window is full. */
  pause(): void
  resume(): void
  /** Sends what waits, then ends both directions, within a bounded time. */
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
      /** The most streams of one peer at a time. */
      readonly maxPerPeer: number
      readonly relayed: boolean
    },
    handler: (stream: ByteStream) => void,
  ): Promise<void>
  /**
   * Opens a stream on the best connection there is, and makes one where there is none. With `from: 'heard'` the
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

/** Length-prefixed messages between two members who proved the network's key. */
export interface VpnChannel {
  readonly peer: PeerId
  /** The group under which bounds by address count it: an IPv4 address, or a /64 of IPv6; a relay's over a relay. */
  readonly address?: string | undefined
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
      /** The most inbound channels of one peer at a time; more are reset. */
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
  /** The connection's transport: `tcp`, `webrtc`, ... */
  readonly transport: string | undefined
  readonly rttMs: number | undefined
}

export interface VpnNetwork {
  readonly channels: VpnChannels
  readonly streams: ByteStreams
  /** True when a peer speaks the protocol; undefined when it is not connected, or has not said yet. */
  speaks(peer: PeerId, protocol: string): boolean | undefined
  /** Resolves when the peer is connected and what it speaks is known. @throws MeshError `p2p.unreachable` */
  connect(peer: PeerId, signal: AbortSignal): Promise<void>
  /** How the peer is connected now; undefined: it is not. */
  pathOf(peer: PeerId): PeerPath | undefined
  /** The IP address at which the peer is connected, a relay's over a relay; undefined where there is none. */
  addressOf?(peer: PeerId): string | undefined
  /** Calls the listener after each connection that opened, closed or changed from relayed to direct. */
  onPath(listener: (peer: PeerId) => void): () => void
  /** Keeps libp2p out of these ranges: it neither dials nor announces addresses in them. */
  blockRanges(ranges: readonly Cidr[]): void
  /**
   * Has routers send what comes for a UDP port of theirs to this one, and tells where after each change; the returned
   * function ends it. Absent where no router is ever asked.
   */
  mapUdpPort?(
    port: number,
    onMapped: (mapped: readonly { readonly address: IpAddress; readonly port: number }[]) => void,
  ): () => void
  /** Measures a round trip, in milliseconds. */
  ping(peer: PeerId, signal?: AbortSignal): Promise<number>
  /**
   * Asks the peer's connections, which `onDoubt` tells of, and ends those that do not answer. Must not reject; once the signal is
   * aborted there is no hurry to end any. Absent where connections end by themselves.
   */
  endDead?(peer: PeerId, signal: AbortSignal): Promise<void>
  /**
   * Calls the listener when a connection to the peer stays silent though it was asked: streams on it may lead nowhere, and
   * new ones go by another connection. Absent where connections end by themselves.
   */
  onDoubt?(listener: (peer: PeerId) => void): () => void
}

/** The engine as the tunnels see it. */
export type TunnelEngine = Omit<
  Engine,
  | 'interface'
  | 'setTable'
  | 'takeRefusals'
  | 'ruleHits'
  | 'flowCount'
  | 'setAddresses'
  | 'setRoutes'
  | 'restore'
  | 'stats'
  | 'close'
>

export type VpnLedger = Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'admits' | 'put' | 'delete' | 'subscribe'>

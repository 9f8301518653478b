/** Streams between members beside libp2p's, as the rest of this package sees them. */
import type { Libp2p } from '@libp2p/interface'
import type { Clock, IpAddress, Logger, PeerId, Random } from '@mesh/core'
import type { Scope } from '@mesh/core/limits'
import type { BandwidthCounter } from '../bandwidth/bandwidth.ts'
import type { ByteStream, Channels, P2pNode } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import type { Unsent } from '../unsent.ts'
import type { BulkHandler } from './acceptor.ts'

/** Streams over TLS connections of their own (docs/PROTOCOLS.md, 'Bulk: `/mesh/bulk/1`'). */
export interface Bulk {
  start(): Promise<void>
  /** Takes streams of a protocol from members. */
  serve(protocol: string, handler: BulkHandler): void
  /** Soon undefined where no connection is ready in time: then libp2p's stream is the way. */
  open(
    peer: PeerId,
    protocol: string,
    options: { readonly halfClose: boolean },
  ): Promise<ByteStream | undefined>
  /** Makes connections ready for streams that will be opened. */
  prepare(peer: PeerId): void
  /** Ends connections to addresses that are blocked now. */
  closeBlocked(): void
  /** Ends all connections with a peer. */
  closePeer(peer: PeerId): void
  stop(): void
}

export interface BulkComponents {
  readonly host: Pick<Libp2p, 'getConnections' | 'getMultiaddrs' | 'addEventListener' | 'removeEventListener'>
  readonly channels: Pick<Channels, 'handle' | 'open'>
  readonly speaks: (peer: PeerId, protocol: string) => boolean | undefined
  readonly rttMs: (peer: PeerId) => number | undefined
  readonly isBlocked: (ip: IpAddress) => boolean
  /** Asks the peer over libp2p whether it is still there. */
  readonly ask: (peer: PeerId) => void
  /** Calls the listener when a peer stayed silent that was asked. */
  readonly onDoubt: P2pNode['onDoubt']
  readonly bandwidth: BandwidthCounter
  readonly refusals: Refusals
  /** Bounds what waits on streams that nobody reads. */
  readonly unread: Scope
  /** Counts what waits to go out on all byte streams. */
  readonly unsent: Unsent
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export type CreateBulk = (components: BulkComponents) => Bulk

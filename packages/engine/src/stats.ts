import type { PeerId } from '@mesh/core'

/** Why packets were dropped. `native/counters.rs` has the same names and says what each means. */
export const DROP_REASONS = [
  'noRoute',
  'multicast',
  'malformed',
  'tooBig',
  'noSession',
  'carryFull',
  'stale',
  'injectFull',
  'badFrame',
  'notSealed',
  'unknownSession',
  'badSeal',
  'replayed',
  'handshakeRefused',
  'handshakeLimit',
  'unknownWay',
  'unknownPeer',
  'spoofedSource',
  'notForUs',
  'deviceRefused',
] as const
export type DropReason = (typeof DROP_REASONS)[number]

/** Sums since the engine was opened. Bytes are those of IP packets, without what sealing adds. */
export interface EngineCounters {
  readonly packetsIn: number
  readonly bytesIn: number
  readonly packetsOut: number
  readonly bytesOut: number
  /** Only reasons that occurred. */
  readonly drops: Readonly<Partial<Record<DropReason, number>>>
}

export interface EngineStats {
  /** What belongs to no peer: destinations that nobody owns, for example. */
  readonly device: EngineCounters
  /** Peers of the table in use; a peer that left takes its counters along. */
  readonly peers: ReadonlyMap<PeerId, EngineCounters>
  /** Events that were lost because nobody took them in time. */
  readonly eventsDropped: number
}

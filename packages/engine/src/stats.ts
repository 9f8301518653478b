import type { PeerId } from '@mesh/core'
import type { NativeStats } from './native.ts'

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

/** @param reasons those that the rows have, in their order */
export function decodeStats(
  { rows, eventsDropped }: NativeStats,
  reasons: readonly DropReason[],
  peerOf: (number: number) => PeerId | undefined,
): EngineStats {
  const width = SUMS + reasons.length
  const peers = new Map<PeerId, EngineCounters>()
  for (let at = width; at < rows.length; at += width) {
    const peer = peerOf(rows[at] ?? 0)
    if (peer !== undefined) peers.set(peer, countersAt(rows, at, reasons))
  }
  return { device: countersAt(rows, 0, reasons), peers, eventsDropped }
}

/** Numbers of a row before those of the reasons. */
const SUMS = 5

function countersAt(rows: Float64Array, at: number, reasons: readonly DropReason[]): EngineCounters {
  const read = (column: number) => rows[at + column] ?? 0
  const drops: Partial<Record<DropReason, number>> = {}
  // by index: this runs for each of thousands of peers
  for (let index = 0; index < reasons.length; index++) {
    const [reason, count] = [reasons[index], read(SUMS + index)]
    if (count > 0 && reason !== undefined) drops[reason] = count
  }
  return { packetsIn: read(1), bytesIn: read(2), packetsOut: read(3), bytesOut: read(4), drops }
}

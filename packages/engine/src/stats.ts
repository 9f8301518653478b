import type { PeerId } from '@mesh/core'
import type { NativeStats } from './native.ts'
import type { TableOwner } from './table.ts'

/** Why packets were dropped. `native/counters.rs` has the same names and says what each means. */
export const DROP_REASONS = [
  'noRoute',
  'multicast',
  'malformed',
  'tooBig',
  'noSession',
  'outboundFull',
  'stale',
  'inboundFull',
  'badFrame',
  'notSealed',
  'unknownSession',
  'badSeal',
  'replayed',
  'handshakeRefused',
  'handshakeLimit',
  'noTunnel',
  'unknownPeer',
  'spoofedSource',
  'notForUs',
  'refusedByRules',
  'deviceRefused',
  'notSent',
  'probeRefused',
  'datagramLimit',
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

/** Counts of what passed between a guest and this node. */
export interface GuestCounters extends EngineCounters {
  /** The address with the port that it was heard from last, `192.0.2.1:51820`; undefined: not yet. */
  readonly endpoint: string | undefined
}

export interface EngineStats {
  /** Counts of what belongs to no peer: destinations that nobody owns, for example. */
  readonly device: EngineCounters
  /** Peers of the table in use; a peer that left takes its counters along. */
  readonly peers: ReadonlyMap<PeerId, EngineCounters>
  /** Guests of the table in use, by their keys. */
  readonly guests: ReadonlyMap<string, GuestCounters>
  /** Events that were lost because nobody took them in time. */
  readonly eventsDropped: number
}

/** @param reasons those that the rows name by index; `ownerOf` tells who has a number of the addon's */
export function decodeStats(
  { rows, eventsDropped, heard }: NativeStats,
  reasons: readonly DropReason[],
  ownerOf: (number: number) => TableOwner | undefined,
): EngineStats {
  const endpoints = new Map(heard.map(({ peer, endpoint }) => [peer, endpoint]))
  const guests = new Map<string, GuestCounters>()
  const peers = new Map<PeerId, EngineCounters>()
  let at = 0
  const next = () => rows[at++] ?? 0
  const counters = (): EngineCounters => {
    const sums = { packetsIn: next(), bytesIn: next(), packetsOut: next(), bytesOut: next() }
    const drops: Partial<Record<DropReason, number>> = {}
    for (let left = next(); left > 0; left--) {
      const reason = reasons[next()]
      const count = next()
      if (reason !== undefined) drops[reason] = count
    }
    return { ...sums, drops }
  }
  // the device's number
  next()
  const device = counters()
  while (at < rows.length) {
    const number = next()
    const { peer, guest } = ownerOf(number) ?? {}
    const own = counters()
    if (peer !== undefined) peers.set(peer, own)
    if (guest !== undefined) guests.set(guest, { ...own, endpoint: endpoints.get(number) })
  }
  return { device, peers, guests, eventsDropped }
}

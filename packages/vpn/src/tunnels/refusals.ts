import type { Logger, PeerId } from '@mesh/core'
import type { KeyRefusal } from './key-exchange.ts'

/** Why something of a peer was refused. */
export type Refusal =
  | KeyRefusal
  /** No answer within 10 s. */
  | 'key.timeout'
  /** More messages than 60 a minute. */
  | 'key.flood'
  /** More exchanges at a time, or keys of members without an entry, than the bounds allow. */
  | 'key.too_many'
  /** Its key, or its entry in the ledger, did not come in time. */
  | 'packets.not_ready'
  /** More new streams than the bounds allow. */
  | 'packets.too_many'
  /** Its stream carries no frames. */
  | 'packets.broken'
  /** No entry in the ledger. */
  | 'legacy.not_in_table'
  /** It speaks `/mesh/vpn/1`: its packets come sealed or not at all. */
  | 'legacy.sealed_peer'
  /** What it speaks is not known yet. */
  | 'legacy.undecided'
  /** No IP packet. */
  | 'legacy.bad_packet'
  /** More than 64 KiB on one stream, or more beginnings of packets than the bounds allow. */
  | 'legacy.too_long'
  /** The stream took longer than 15 s, or ended inside a packet. */
  | 'legacy.unfinished'

/** Counts what was refused. */
export interface RefusalCounter {
  refuse(code: Refusal, peer: PeerId): void
  /** Since the start, by code; only what occurred. */
  counts(): Readonly<Partial<Record<Refusal, number>>>
}

export function createRefusalCounter(log: Logger): RefusalCounter {
  const counts = new Map<Refusal, number>()
  return {
    refuse(code, peer) {
      counts.set(code, (counts.get(code) ?? 0) + 1)
      log.debug('refused', { code, peer })
    },
    counts: () => Object.fromEntries(counts),
  }
}

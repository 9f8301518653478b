import { KeyedCounts, type Logger, type PeerId } from '@mesh/core'
import type { KeyRefusal } from './key-exchange.ts'

/** Why something that a peer did was refused. */
export type Refusal =
  | KeyRefusal
  /** It did not answer within 10 s. */
  | 'key.timeout'
  /** It sent more than 60 messages a minute. */
  | 'key.flood'
  /** There were more exchanges at a time, or keys of members without an entry, than the bounds allow. */
  | 'key.too_many'
  /** Its key, or its entry in the ledger, did not come in time. */
  | 'packets.not_ready'
  /** It opened more new streams than the bounds allow. */
  | 'packets.too_many'
  /** Its stream brought bytes that are no frames. */
  | 'packets.broken'
  /** It has no entry in the ledger. */
  | 'legacy.not_in_table'
  /** It speaks `/mesh/vpn/1`, and its packets come sealed or not at all. */
  | 'legacy.sealed_peer'
  /** What it speaks is not known yet. */
  | 'legacy.undecided'
  /** Its stream brought bytes that are no IP packet. */
  | 'legacy.bad_packet'
  /** It sent more than 64 KiB on one stream, or more unfinished packets than the bounds allow. */
  | 'legacy.too_long'
  /** Its stream took longer than 15 s, or ended inside a packet. */
  | 'legacy.unfinished'

/** Counts what was refused. */
export interface RefusalCounter {
  refuse(code: Refusal, peer: PeerId): void
  /** How often each code occurred since the start; only those that did. */
  counts(): Readonly<Partial<Record<Refusal, number>>>
}

export function createRefusalCounter(log: Logger): RefusalCounter {
  const counts = new KeyedCounts<Refusal>()
  return {
    refuse(code, peer) {
      counts.add(code)
      log.debug('refused', { code, peer })
    },
    counts: () => Object.fromEntries(counts.entries()),
  }
}

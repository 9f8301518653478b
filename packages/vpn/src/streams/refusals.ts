import { KeyedCounts, type Logger, type PeerId } from '@mesh/core'

/** Why an exchange was refused, by the codes that are counted. */
export type KeyRefusal =
  | 'key.bad_message'
  /** Its hello has lengths that no key and nonce have, or an MTU that IP does not allow. */
  | 'key.bad_hello'
  /** The peer sent our own key. */
  | 'key.own'
  /** Its key is a point of low order: the secret would be no secret. */
  | 'key.weak'
  | 'key.held_by_another'
  /** It sent a second hello or proof. */
  | 'key.twice'
  /** It sent a proof before its hello. */
  | 'key.early_proof'
  | 'key.wrong_proof'
  /** It told addresses before the keys were exchanged. */
  | 'key.early_paths'

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
export type RefusalCounter = ReturnType<typeof createRefusalCounter>

export function createRefusalCounter(log: Logger) {
  const counts = new KeyedCounts<Refusal>()
  return {
    refuse(code: Refusal, peer: PeerId) {
      counts.add(code)
      log.debug('refused', { code, peer })
    },
    /** How often each code occurred since the start; only those that did. */
    counts: (): Readonly<Partial<Record<Refusal, number>>> => Object.fromEntries(counts.entries()),
  }
}

/**
 * The messages that two members exchange on `/mesh/replication/1`. They speak strictly one after the other:
 * an answer is also the acknowledgement, so one message is all that is ever in flight.
 */
import type { KeyedEntry, Position, PositionRange, RangeSummary } from '@mesh/ledger'

/** A range and what the sender holds in it. */
export interface RangeClaim extends PositionRange, RangeSummary {}

/** One entry of a list: where it stands and in which state. */
export interface ListItem extends Position {
  readonly version: bigint
  /** First 16 bytes of the entry's hash. */
  readonly hash: Uint8Array
  /** FNV-1a 32 of the owner's text; differing owners are shown both entries, so that both learn of a conflict. */
  readonly ownerTag: number
  readonly deleted: boolean
}

/** All that the sender holds in a range, in the ledger's order. */
export interface RangeList extends PositionRange {
  readonly items: readonly ListItem[]
}

/** An entry of the previous message that its receiver refused. */
export interface Refusal {
  /** First 16 bytes of the entry's hash. */
  readonly hash: Uint8Array
  readonly code: string
}

/** Where a ledger stands; the first message of each side has it. */
export interface Hello {
  /** All entries, tombstones included. */
  readonly size: number
  /** First 16 bytes of the digest over live entries without heartbeats. */
  readonly digest: Uint8Array
  /** 16 bytes: exclusive or of the live heartbeats' hashes. */
  readonly heartbeats: Uint8Array
  /** The sender's clock as it sends, Unix ms; members of earlier versions do not tell it. */
  readonly nowMs?: number
}

/** One message. A message without content and `more` says: nothing from me; two such in a row end the session. */
export interface SyncMessage {
  readonly hello?: Hello
  readonly ranges: readonly RangeClaim[]
  readonly lists: readonly RangeList[]
  readonly wants: readonly Position[]
  readonly entries: readonly KeyedEntry[]
  readonly refused: readonly Refusal[]
  /** The sender has more to say and only waits for the answer. */
  readonly more: boolean
}

import type { Entry, KeyedEntry } from './entries/entry.ts'

/** The last block's head. `hash` covers index, timestamp, the ledger's digest and `prevHash`. */
export interface BlockHead {
  readonly index: number
  /** The time in the form of Go's `time.String()`, UTC (docs/WIRE.md 4.1). */
  readonly timestamp: string
  /** The hexadecimal SHA-256 of the block. */
  readonly hash: string
  readonly prevHash: string
}

/**
 * The digest that two nodes compare: it is equal exactly when both hold the same live entries (without
 * `healthcheck`).
 */
export interface LedgerDigest {
  readonly entries: number
  /** The digest as hexadecimal text of 64 characters. */
  readonly digest: string
  /** The digest of each bucket that has a live entry; computed when it is first asked for. */
  readonly buckets: Readonly<Record<string, string>>
}

/** A place in the ledger's order: by bucket, then key, both by UTF-16 code units (plain `<`). */
export interface Position {
  readonly bucket: string
  readonly key: string
}

/** A range from `from` (inclusive; undefined = the start) to `to` (exclusive; undefined = the end). */
export interface PositionRange {
  readonly from: Position | undefined
  readonly to: Position | undefined
}

/** The digest that two ledgers compare of a range, over all stored entries, tombstones included. */
export interface RangeSummary {
  readonly count: number
  /** 32 bytes; sum modulo 2^256 of the entries' SHA-256 hashes, so that it is kept up to date in O(log n). */
  readonly fingerprint: Uint8Array
}

/** Immutable view of the ledger at one block; taking one costs nothing and it stays valid for ever. */
export interface Snapshot {
  readonly head: BlockHead
  /** All entries, tombstones included. */
  readonly size: number
  /** The stored entry, a tombstone too. */
  get(bucket: string, key: string): Entry | undefined
  /** The stored entry unless it is a tombstone. */
  getLive(bucket: string, key: string): Entry | undefined
  /** Names of the buckets that hold a live entry, sorted. */
  buckets(): readonly string[]
  /** Live entries in the bucket; O(log n). */
  count(bucket: string): number
  /** Iterates over entries in the ledger's order, tombstones included. */
  entries(bucket?: string): Iterable<KeyedEntry>
  /** Iterates as `entries` does, over a range. */
  entriesIn(range: PositionRange): Iterable<KeyedEntry>
  /** Summarises a range in O(log n). */
  summarize(range: PositionRange): RangeSummary
  /** The `index`-th position (from 0) in the range, to split it evenly; O(log n). */
  positionAt(range: PositionRange, index: number): Position | undefined
  /** The digest of the live entries of one bucket, hexadecimal; O(log n). */
  bucketDigest(bucket: string): string
  /** Computed once for each snapshot from what writes kept up to date. */
  digest(): LedgerDigest
  /**
   * Has this owner a heartbeat newer than the liveness window at `nowMs`, and is it admitted? With ownership `off`
   * heartbeats do not count.
   */
  isOwnerLive(owner: string, nowMs: number): boolean
}

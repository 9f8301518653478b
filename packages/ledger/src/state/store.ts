/** Where a ledger outlives its process. */
import { MeshError } from '@mesh/core'
import type { KeyedEntry } from '../entries/entry.ts'
import type { BlockHead, Position } from '../snapshot.ts'

/** A collected tombstone, so that what it ended is not taken for a first claim. */
export interface PrunedTombstone {
  /** 24 hexadecimal digits: the start of SHA-256 over bucket and key. */
  readonly hash: string
  readonly version: bigint
}

/** The changes of one commit. */
export interface StoreBatch {
  readonly head: BlockHead
  /** Fingerprint over all entries after this batch, hexadecimal: proves at opening that nothing is missing. */
  readonly fingerprint: string
  readonly puts: readonly KeyedEntry[]
  readonly removes: readonly Position[]
  /** Remembered in this order; the oldest are forgotten first. */
  readonly pruned: readonly PrunedTombstone[]
  /** Hashes no longer remembered. */
  readonly forgotten: readonly string[]
}

export interface StoredLedger {
  readonly head: BlockHead
  readonly fingerprint: string
  readonly entries: Iterable<KeyedEntry>
  /** The tombstones, oldest first. */
  readonly pruned: readonly PrunedTombstone[]
}

/**
 * A store commits each batch as a whole, or throws and changes nothing. Synchronous, so that a write is durable
 * before anyone hears of it.
 */
export interface Store {
  /** Where it is, for people; undefined for memory. */
  readonly location?: string | undefined
  /** Undefined in a fresh store. */
  load(): StoredLedger | undefined
  commit(batch: StoreBatch): void
  /**
   * Tells whether so many bytes more could be stored now. Asked while batches fail: where little space is left a small one
   * may pass and the next one not. A store without it is taken at its last batch.
   */
  hasRoomFor?(bytes: number): boolean
  /** True from a batch that met damage until what is stored was read and is sound. A store without it stays damaged. */
  isDamaged?(): boolean
  close(): void
}

/**
 * The error of a store that cannot serve; `ledger.store_failed` may pass (a full disk), the others do not.
 */
export type StoreErrorCode = 'ledger.store_damaged' | 'ledger.store_locked' | 'ledger.store_failed'

/** Is what a store holds not what was written? */
export function isDamage(error: unknown): boolean {
  return error instanceof MeshError && error.code === 'ledger.store_damaged'
}

/** Keeps nothing beyond the ledger's own memory. */
export function createMemoryStore(): Store {
  return { load: () => undefined, commit() {}, close() {} }
}

import type { MeshError, PeerId } from '@mesh/core'
import type { Entry, KeyedEntry } from './entries/entry.ts'
import type { BlockHead, Position, Snapshot } from './snapshot.ts'
import type { ClockOffset } from './rules/clock-check.ts'
import type { StoredLedger } from './state/store.ts'
import type { StoreFailure } from './state/watched-store.ts'

/** How entries of others are judged: refuse what breaks ownership, count it only, or know no ownership. */
export type OwnershipMode = 'enforce' | 'observe' | 'off'

/** Why an entry was refused (docs/WIRE.md 4.5, and our stricter rules). Metrics, events and logs use these words. */
export type RejectionCode =
  | 'BAD_SIG'
  /** Nobody signed it, as in networks whose members run with ownership off. */
  | 'UNSIGNED'
  | 'TOMB_UNKNOWN'
  | 'TOMB_NOT_OWNER'
  | 'TOMB_STALE'
  | 'OWNER_MISMATCH'
  | 'RECLAIM_STALE'
  | 'NOT_OWNER'
  | 'ROLLBACK'
  | 'TIE_LOST'
  | 'FUTURE'
  | 'TOO_LARGE'
  | 'MALFORMED'
  | 'QUOTA'
  | 'REPLAYED'
  | 'GATED'
  /** It needs another entry, which is not held yet. */
  | 'NOT_YET'

export type LedgerErrorCode =
  | 'ledger.not_owner'
  | 'ledger.bad_value'
  | 'ledger.too_large'
  | 'ledger.over_quota'
  | 'ledger.store_failed'
  | 'ledger.stopped'

/** One key's change inside a block. An entry that this ledger removed by itself becomes a tombstone without a signature. */
export interface Change extends KeyedEntry {
  readonly previous: Entry | undefined
  /** Who made it: a write of this node, or what arrived from another. */
  readonly origin: 'local' | 'remote'
}

export type LedgerEvent =
  /** Who is admitted has changed: `Snapshot.isOwnerLive` may answer otherwise than before. */
  | { readonly type: 'admission' }
  /** This machine's clock is right again, or its disk: what was not taken for that reason may be taken now. */
  | { readonly type: 'reconsider' }
  | { readonly type: 'committed'; readonly head: BlockHead; readonly changes: readonly Change[] }
  | {
      readonly type: 'rejected'
      readonly bucket: string
      readonly key: string
      readonly owner: string
      readonly version: bigint
      /** JSON text, as it came. */
      readonly value: string
      readonly code: RejectionCode
      /** The member that sent it, when known. */
      readonly author: PeerId | undefined
    }
  | {
      readonly type: 'conflict'
      readonly bucket: string
      readonly key: string
      readonly owners: readonly string[]
      readonly resolved: boolean
    }
  /** This node gave up a key that another live owner holds ('Races', 'Coming back'). */
  | { readonly type: 'yielded'; readonly bucket: string; readonly key: string; readonly to: string }
  /**
   * Somebody still holds entries that have been ended: these tombstones, which this ledger does not store, tell
   * them. To be published.
   */
  | { readonly type: 'retracted'; readonly entries: readonly KeyedEntry[] }
  /** Another claims what this node holds, and may not know that: its own entry as it stands. To be published. */
  | { readonly type: 'contested'; readonly entries: readonly KeyedEntry[] }

/** The fate of one local write. */
export type WriteOutcome =
  | {
      readonly state: 'committed'
      /** Index of the block that holds the write. */
      readonly block: number
    }
  | { readonly state: 'refused'; readonly error: MeshError<LedgerErrorCode> }
  | { readonly state: 'superseded' }

/** A write that waits for its block (at most 20 ms, unless it is held: `Ledger.holdClaims`). */
export interface Write {
  /** The outcome, which never rejects. */
  readonly settled: Promise<WriteOutcome>
}

export interface BucketDelete extends Write {
  /** Keys that this node may not delete, with their owners. */
  readonly refused: readonly { readonly key: string; readonly owner: string }[]
  /** How many keys will get a tombstone. */
  readonly deleting: number
}

export interface MergeResult {
  /** Number of entries that are held now and were not before. */
  readonly accepted: number
  /** Number of entries already held, or older than what is held in an open bucket. */
  readonly unchanged: number
  readonly rejected: readonly {
    readonly bucket: string
    readonly key: string
    readonly code: RejectionCode
  }[]
  /** Tombstones of rejected entries that have been ended, for whoever sent those; this ledger does not store them. */
  readonly retracted?: readonly KeyedEntry[]
}

/** The counts of one call of `reap`. */
export interface ReapResult {
  /** Number of tombstones collected, here only. */
  readonly collected: number
  /** There are more to be collected: to be called again when other work has had its turn. */
  readonly hasMore: boolean
  /** Number of expired entries of others that get a tombstone from this node. */
  readonly ended: number
}

/** One step of a withdrawal. */
export interface Withdrawn {
  /** The number of entries that it took out. */
  readonly count: number
  /** Where the next step begins; undefined: it was the last one. */
  readonly next: Position | undefined
}

export interface Ledger {
  readonly self: PeerId
  readonly mode: OwnershipMode
  snapshot(): Snapshot
  /** False for an owner whom `LedgerComponents.admits` keeps out. */
  admits(owner: string): boolean
  /** Must be called when `LedgerComponents.admits` answers otherwise than before; tells subscribers. */
  admissionChanged(): void
  /**
   * Queues a write of `valueText` (JSON text, signed as given). A later put or delete of the key supersedes a
   * pending one. The same live value by the same owner changes nothing and settles as committed.
   * @throws MeshError with a LedgerErrorCode when the rules refuse it now; `details` has `owner` and `leaseEndsAt`
   *   (unix ms) for `ledger.not_owner`.
   */
  put(bucket: string, key: string, valueText: string): Write
  /** Deletes a key, as `put` writes one; an absent key settles as committed with nothing changed. */
  delete(bucket: string, key: string): Write
  /**
   * @param keeps keys that stay, as those of others do; default: none
   * @throws MeshError `ledger.not_owner` when the bucket has live entries and the rules let none be deleted.
   */
  deleteBucket(bucket: string, keeps?: (key: string) => boolean): BucketDelete
  /** Judges and takes entries of others, in one block; never throws for what they contain. */
  merge(entries: Iterable<KeyedEntry>, author: PeerId | undefined): MergeResult
  /**
   * Decodes and merges one block's JSON text as UTF-8 (already inflated) in slices of 10 ms, giving way to other work;
   * one bad entry never discards the block.
   */
  receiveBlock(text: Uint8Array, author: PeerId | undefined): Promise<MergeResult>
  /** Calls back after each commit, rejection or conflict, in order; the returned function unsubscribes. */
  subscribe(listener: (event: LedgerEvent) => void): () => void
  /** Rejections since start by code. */
  rejections(): Readonly<Partial<Record<RejectionCode, number>>>
  /** Keys that two live owners hold against each other now. */
  conflicts(): readonly {
    readonly bucket: string
    readonly key: string
    readonly owners: readonly string[]
    /** Unix time in ms. */
    readonly since: number
  }[]
  /** Why nothing is stored now, as with a full disk; undefined when the last block was. Writes are refused meanwhile. */
  storeFailure(): StoreFailure | undefined
  /** All that the store should hold now, for a store in place of a damaged one; it does not change any more. */
  contents(): StoredLedger
  /** Must be told the time of a member, Unix ms, when it told it itself, just now. */
  clockTold(member: PeerId, nowMs: number): void
  /** How far this machine's clock is from the other members'; undefined while none was heard for ten minutes. */
  clockOffset(): ClockOffset | undefined
  /**
   * Who ends expired entries: elected among the living nodes that this one lets in (docs/WIRE.md 4.8). Undefined when nobody
   * is alive, as after a suspension of this machine.
   */
  leader(): string | undefined
  /**
   * Collects tombstones that have had their time; when this node is the leader, ends the entries whose owners are
   * gone. To be called every 10 minutes by every node.
   * @param draw from 0 to 1, at random: below 1/n, where n nodes live, this node ends what no leader has ended for an
   * hour; 1 by default, for never
   */
  reap(draw?: number): ReapResult
  /**
   * Removes what these owners wrote and what is neither admitted nor kept, as if it had never come. This repairs what the node
   * took before it heard of a revocation. Older values come back from other members. Does one step of a walk in the
   * ledger's order; the caller continues with `next`.
   */
  withdraw(owners: ReadonlySet<PeerId>, keeps: (keyed: KeyedEntry) => boolean, from?: Position): Withdrawn
  /**
   * Holds this node's writes into owned buckets until `releaseClaims`, which judges them again: the node may have missed
   * that another member owns the key by now. Writes that the rules refuse fail at once. Open buckets and mode `off` go on.
   * Idempotent.
   */
  holdClaims(): void
  /** Held writes get their block, or are refused. Idempotent. */
  releaseClaims(): void
  /** Commits what is pending, refuses what is held (`ledger.stopped`), closes the store. Idempotent. */
  stop(): Promise<void>
}

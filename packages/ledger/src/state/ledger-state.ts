/**
 * The one mutable cell of a ledger: the current root, the head, how much each signer holds, and the remembered
 * tombstones. A commit changes all of it or nothing: the store takes the batch first.
 */
import { MeshError, positionId } from '@mesh/core'
import { genesisHead, hashByDigest, hashByPrint } from '../blocks/block-hash.ts'
import { type PrunedTombstones, createPrunedTombstones } from './pruned-tombstones.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import { entryLimbs, limbsToHex } from '../entries/fingerprint.ts'
import { formatGoTime } from '../go-json/go-time.ts'
import { TreeSnapshot, digestOf } from './ledger-snapshot.ts'
import type { Withdrawn } from '../ledger.ts'
import { type LedgerLimits, MAX_WITHDRAWN_AT_ONCE, WITHDRAW_STEP_ENTRIES } from '../limits.ts'
import { createQuota, type Quota } from './quota.ts'
import type { BlockHead, Position, Snapshot } from '../snapshot.ts'
import type { Store, StoredLedger, StoreErrorCode } from './store.ts'
import { leavesFrom, treeGet } from './tree.ts'
import { treeDelete, treeFrom, treeSet } from './tree-edit.ts'
import { type Tree } from './tree-node.ts'
import { comparePositions } from './position-order.ts'

export interface StateInit {
  readonly store: Store
  readonly limits: LedgerLimits
  /** Undefined when ownership is off: blocks then carry the legacy hash over all entries. */
  readonly livenessMs: number | undefined
  readonly now: () => number
  /** False for owners who count as not alive. */
  readonly admits: (owner: string) => boolean
  readonly self: string
  /** Has nobody a hold on the keys of this bucket? */
  readonly isOpen: (bucket: string) => boolean
}

export class LedgerState {
  tree: Tree
  head: BlockHead
  readonly quota: Quota
  readonly pruned: PrunedTombstones
  readonly init: StateInit
  #snapshot: Snapshot | undefined

  constructor(init: StateInit) {
    this.init = init
    this.quota = createQuota(init)
    const stored = init.store.load()
    this.tree = treeFrom([...(stored?.entries ?? [])].sort(comparePositions), entryLimbs)
    this.head = stored?.head ?? genesisHead(formatGoTime(init.now()))
    this.pruned = createPrunedTombstones(init.limits.maxRememberedTombstones, stored?.pruned ?? [])
    if (stored !== undefined && limbsToHex(this.tree.sums) !== stored.fingerprint) throw damaged(init.store)
    for (const row of rowsOf(this.tree)) this.quota.count(row)
  }

  snapshot(): Snapshot {
    this.#snapshot ??= new TreeSnapshot({
      head: this.head,
      tree: this.tree,
      livenessMs: this.init.livenessMs,
      admits: this.init.admits,
    })
    return this.#snapshot
  }

  /** All that a store holds of this state; it does not change any more. */
  contents(): StoredLedger {
    const { tree, head, pruned } = this
    return { head, fingerprint: limbsToHex(tree.sums), entries: rowsOf(tree), pruned: pruned.list() }
  }

  /** Begins a set of changes on the present state; nothing is seen of it before `commit`. */
  edit(): StateEdit {
    return new StateEdit(this)
  }

  replace(tree: Tree, head: BlockHead): void {
    this.tree = tree
    this.head = head
    this.#snapshot = undefined
  }
}

/** Changes that will be one block. */
export class StateEdit {
  readonly #state: LedgerState
  #tree: Tree
  /**
   * The changes by bucket and key, of which the last one of a key counts; undefined for one that was removed.
   */
  readonly #changes = new Map<string, { position: Position; row: KeyedEntry | undefined }>()

  /** Holds the entries that had to go, as they stood then: in this edit they may have been ended first. */
  readonly #evicted = new Map<string, KeyedEntry>()
  /** The keys whose tombstones keep nothing away. */
  readonly #forgotten = new Set<string>()

  constructor(state: LedgerState) {
    this.#state = state
    this.#tree = state.tree
  }

  get tree(): Tree {
    return this.#tree
  }

  /** Entries put and tombstones collected so far. */
  get size(): number {
    return this.#changes.size
  }

  /** Iterates over the entries that were put so far, each key once, with what the ledger held of it. */
  *puts() {
    for (const { row } of this.#changes.values()) {
      if (row !== undefined) yield { row, before: treeGet(this.#state.tree, row) }
    }
  }

  get(position: Position): KeyedEntry | undefined {
    return treeGet(this.#tree, position)
  }

  /** All that would be stored, in order, from a position on; what is changed meanwhile does not show. */
  *rowsFrom(from: Position | undefined): Generator<KeyedEntry> {
    for (const rows of leavesFrom(this.#tree, from)) yield* rows
  }

  put(keyed: KeyedEntry): void {
    const before = this.get(keyed)
    if (before !== undefined) this.#state.quota.uncount(before)
    this.#state.quota.count(keyed)
    this.#tree = treeSet(this.#tree, keyed, entryLimbs(keyed))
    this.#changes.set(positionId(keyed), { position: keyed, row: keyed })
  }

  remove(position: Position): void {
    const before = this.get(position)
    if (before === undefined) return
    this.#state.quota.uncount(before)
    this.#tree = treeDelete(this.#tree, position)
    this.#changes.set(positionId(position), { position: before, row: undefined })
  }

  /** Removes an entry as if it had never come: no change is remembered but that it went, and an older one may take its place. */
  forget(position: Position): void {
    const before = this.get(position)
    if (before === undefined) return
    this.remove(position)
    this.#forgotten.add(positionId(position))
    this.noteEvicted([before])
  }

  /**
   * Forgets entries from a position on, a few at a time: each costs as much as one that is written.
   * @returns how many, and where to go on
   */
  forgetSome(isOut: (row: KeyedEntry) => boolean, from: Position | undefined): Withdrawn {
    let [count, walked] = [0, 0]
    for (const row of this.rowsFrom(from)) {
      const isEnough = walked++ === WITHDRAW_STEP_ENTRIES || count === MAX_WITHDRAWN_AT_ONCE
      if (isEnough) return { count, next: { bucket: row.bucket, key: row.key } }
      if (!isOut(row)) continue
      this.forget(row)
      count++
    }
    return { count, next: undefined }
  }

  /** These were removed for want of room, and are told as changes. */
  noteEvicted(rows: readonly KeyedEntry[]): void {
    for (const row of rows) this.#evicted.set(positionId(row), row)
  }

  /** The entries that the ledger held before and had no room for any more. */
  *evicted() {
    for (const id of this.#evicted.keys()) {
      const change = this.#changes.get(id)
      const before = change?.row === undefined && change && treeGet(this.#state.tree, change.position)
      if (before) yield before
    }
  }

  /** Makes the changes the next block, or takes over a foreign head (mode `off`). Throws what the store throws. */
  commit(foreignHead?: BlockHead): BlockHead {
    const { store } = this.#state.init
    const head = foreignHead ?? this.#nextHead()
    const puts: KeyedEntry[] = []
    const removes: KeyedEntry[] = []
    const tombstones: KeyedEntry[] = []
    for (const [id, { position, row }] of this.#changes) {
      if (row !== undefined) {
        puts.push(row)
        continue
      }
      const before = treeGet(this.#state.tree, position)
      if (before !== undefined) removes.push(before)
      const gone = this.#evicted.get(id) ?? before
      if (gone?.entry.deleted === true && !this.#forgotten.has(id)) tombstones.push(gone)
    }
    const pruned = this.#state.pruned.plan(tombstones, puts)
    try {
      store.commit({
        head,
        fingerprint: limbsToHex(this.#tree.sums),
        puts,
        removes,
        pruned: pruned.added,
        forgotten: pruned.dropped,
      })
    } catch (error) {
      this.discard()
      throw error
    }
    this.#state.pruned.apply(pruned)
    this.#state.replace(this.#tree, head)
    return head
  }

  /** Gives back what the quota counted. */
  discard(): void {
    for (const { position, row } of this.#changes.values()) {
      if (row !== undefined) this.#state.quota.uncount(row)
      const before = treeGet(this.#state.tree, position)
      if (before !== undefined) this.#state.quota.count(before)
    }
    this.#changes.clear()
    this.#tree = this.#state.tree
  }

  #nextHead(): BlockHead {
    const { head: before, init } = this.#state
    const next = { index: before.index + 1, timestamp: formatGoTime(init.now()), prevHash: before.hash }
    const hash =
      init.livenessMs === undefined
        ? hashByPrint(next, [...leavesFrom(this.#tree, undefined)].flat())
        : hashByDigest(next, digestOf(this.#tree).digest)
    return Object.freeze({ ...next, hash })
  }
}

function* rowsOf(tree: Tree): Generator<KeyedEntry> {
  for (const rows of leavesFrom(tree, undefined)) yield* rows
}

function damaged(store: Store): MeshError<StoreErrorCode> {
  return new MeshError('ledger.store_damaged', 'the stored ledger is not what was written', {
    hint: `Move ${store.location ?? 'the store'} away and start again: the other members have the entries.`,
    details: { location: store.location, isBroken: true },
  })
}

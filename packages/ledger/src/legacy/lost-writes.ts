/**
 * Mode `off`: of two blocks that were made at the same time one replaces the other, with all that it wrote. The node
 * watches writes for a while and repeats those that such a block took away. It repeats its own, as legacy members do,
 * and those of others on top of the head held here: legacy members repeat theirs for a moment only.
 *
 * A block that somebody made on top of the write is no such block: it took the write away on purpose. The same holds
 * for a value that neither this node wrote nor the ledger held before.
 */
import { BoundedMap, type Clock, fnv1a32, type PeerId, positionId } from '@mesh/core'
import type { LedgerEvent, Change } from '../ledger.ts'
import {
  LOST_WRITE_LEAST_DELAY_MS,
  LOST_WRITE_SPREAD_MS,
  LOST_WRITE_WATCH_MS,
  MAX_WATCHED_HEADS,
  MAX_WATCHED_WRITES,
} from '../limits.ts'
import type { BlockHead, Position } from '../snapshot.ts'

export interface LostWritesInit {
  readonly self: PeerId
  readonly clock: Clock
  /** Aborts when the ledger stops. */
  readonly signal: AbortSignal
  readonly submit: (write: { readonly position: Position; readonly value: string | undefined }) => void
}

/** A write that a block made at the same time may take away; an undefined value deletes. */
interface WatchedWrite {
  readonly position: Position
  readonly value: string | undefined
  /** The values that the key held before. */
  readonly earlier: ReadonlySet<string | undefined>
  /** The first head that holds the write, by its number; infinite while the write is lost. */
  since: number
  /** Monotonic ms at which the first block of others was heard after the write. */
  heardAtMs: number | undefined
}

export class LostWrites {
  readonly #init: LostWritesInit
  readonly #watched = new BoundedMap<string, WatchedWrite>(MAX_WATCHED_WRITES)
  /** The number of each head that this node held lately, by its hash. */
  readonly #heads = new BoundedMap<string, number>(MAX_WATCHED_HEADS)
  #count = 0
  #isDue = false

  constructor(init: LostWritesInit) {
    this.#init = init
  }

  /** Must be called with each block of others, taken or not. */
  heard(): void {
    const nowMs = this.#init.clock.monotonic()
    for (const [id, write] of this.#watched) {
      write.heardAtMs ??= nowMs
      const isOver = write.since !== Number.POSITIVE_INFINITY && nowMs > write.heardAtMs + LOST_WRITE_WATCH_MS
      if (isOver) this.#watched.delete(id)
    }
  }

  /** Must be called with each event of the ledger. */
  hear(event: LedgerEvent): void {
    if (event.type !== 'committed') return
    const { head, changes } = event
    const isOnTop = this.#heads.get(head.prevHash) === this.#count
    this.#heads.set(head.hash, ++this.#count)
    for (const change of changes) {
      if (change.origin === 'local' || (this.#isSettled(change, head) && isOnTop)) this.#watch(change)
    }
  }

  #watch(change: Change): void {
    const id = positionId(change)
    const before = this.#watched.get(id)
    const value = valueOf(change.entry)
    const isRepeated = before !== undefined && before.value === value
    const earlier = [...(before?.earlier ?? []), ...(isRepeated ? [] : [before?.value])]
    this.#watched.set(id, {
      position: { bucket: change.bucket, key: change.key },
      value,
      earlier: new Set([...earlier, valueOf(change.previous)].filter((each) => each !== value)),
      since: this.#count,
      heardAtMs: isRepeated ? before.heardAtMs : undefined,
    })
  }

  /** Judges by what a block of others made of a watched key whether the write was lost; true when it was not. */
  #isSettled(change: Change, { prevHash }: BlockHead): boolean {
    const id = positionId(change)
    const write = this.#watched.get(id)
    if (write === undefined) return true
    const value = valueOf(change.entry)
    if (value === write.value) {
      write.since = Math.min(write.since, this.#count)
      return false
    }
    const isOnPurpose = (this.#heads.get(prevHash) ?? 0) >= write.since
    if (isOnPurpose || !write.earlier.has(value)) {
      this.#watched.delete(id)
      return true
    }
    write.since = Number.POSITIVE_INFINITY
    this.#repeatSoon(prevHash)
    return false
  }

  /** Members that lost a race to the same block wait for different times, so that they do not race again. */
  #repeatSoon(prevHash: string): void {
    if (this.#isDue) return
    this.#isDue = true
    const { clock, self, signal, submit } = this.#init
    const spreadMs = fnv1a32(self + prevHash) % LOST_WRITE_SPREAD_MS
    clock.after(LOST_WRITE_LEAST_DELAY_MS + spreadMs, () => {
      this.#isDue = false
      if (signal.aborted) return
      for (const { since, position, value } of this.#watched.values()) {
        if (since === Number.POSITIVE_INFINITY) submit({ position, value })
      }
    })
  }
}

function valueOf(entry: Change['previous']): string | undefined {
  return entry === undefined || entry.deleted ? undefined : entry.value
}

/**
 * Local writes that wait for their block: at once when idle, at most 20 ms later otherwise. The last write of a key
 * is what stays; large bursts are signed in slices, so that other work gets its turn. Writes that must be
 * held wait apart until they are released.
 */
import { type Clock, positionId } from '@mesh/core'
import type { WriteOutcome } from '../ledger.ts'
import { MAX_COMMIT_DELAY_MS, SLICE_MS } from '../limits.ts'
import type { Position } from '../snapshot.ts'

export interface PendingWrite {
  readonly position: Position
  /** The Value to write; undefined deletes. */
  readonly value: string | undefined
  /** The version must lie above this; such a write happens even when the Value stays the same. */
  above?: bigint
  /** Tells whoever asked for the write what became of it. */
  readonly resolve: (outcome: WriteOutcome) => void
}

export interface WriteQueueInit {
  readonly clock: Clock
  readonly isOwned: (bucket: string) => boolean
  /** Makes one block of the writes that it draws, and resolves each. */
  readonly commit: (writes: Iterable<PendingWrite>) => void
}

export class WriteQueue {
  readonly #init: WriteQueueInit
  readonly #waiting = new Map<string, PendingWrite>()
  readonly #held = new Map<string, PendingWrite>()
  #holding = false
  #scheduled = false
  #lastCommitMs = Number.NEGATIVE_INFINITY

  constructor(init: WriteQueueInit) {
    this.#init = init
  }

  /** Takes the place of a pending write of the same key. */
  submit({ position, value, above }: Omit<PendingWrite, 'resolve'>): Promise<WriteOutcome> {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>()
    this.cancel(position, { state: 'superseded' })
    const write = { position, value, resolve, ...(above === undefined ? {} : { above }) }
    if (this.holds(position.bucket)) this.#held.set(positionId(position), write)
    else {
      this.#waiting.set(positionId(position), write)
      this.#scheduleNext()
    }
    return promise
  }

  /** Ends the pending write of a key, if there is one. */
  cancel(position: Position, outcome: WriteOutcome): void {
    const id = positionId(position)
    this.pending(position)?.resolve(outcome)
    this.#waiting.delete(id)
    this.#held.delete(id)
  }

  pending(position: Position): PendingWrite | undefined {
    const id = positionId(position)
    return this.#waiting.get(id) ?? this.#held.get(id)
  }

  /** Pending puts of a bucket. */
  puts(bucket: string): readonly PendingWrite[] {
    return [...this.#waiting.values(), ...this.#held.values()].filter(
      ({ position, value }) => position.bucket === bucket && value !== undefined,
    )
  }

  /** Commits all that waits and is not held, now. */
  flush(): void {
    if (this.#waiting.size > 0) this.#init.commit(this.#draw(Number.POSITIVE_INFINITY))
  }

  /** Holds writes of owned buckets from now on, until `release`. */
  hold(): void {
    this.#holding = true
  }

  /** Are writes of this bucket held now? */
  holds(bucket: string): boolean {
    return this.#holding && this.#init.isOwned(bucket)
  }

  /** Held writes get their turn, in the order in which they came. */
  release(): void {
    this.#holding = false
    if (this.#held.size === 0) return
    for (const [id, write] of this.#held) this.#waiting.set(id, write)
    this.#held.clear()
    this.#scheduleNext()
  }

  /** Ends the held writes. */
  dropHeld(outcome: WriteOutcome): void {
    for (const { resolve } of this.#held.values()) resolve(outcome)
    this.#held.clear()
  }

  /** Draws until `budgetMs` is used, at least one. */
  *#draw(budgetMs: number): Generator<PendingWrite> {
    const { clock } = this.#init
    const end = clock.monotonic() + budgetMs
    for (const [id, write] of this.#waiting) {
      this.#waiting.delete(id)
      yield write
      if (clock.monotonic() >= end) return
    }
  }

  #scheduleNext(): void {
    const dueMs = this.#lastCommitMs + MAX_COMMIT_DELAY_MS
    const nowMs = this.#init.clock.monotonic()
    this.#schedule(dueMs <= nowMs ? 'at once' : dueMs - nowMs)
  }

  #schedule(delayMs: number | 'at once'): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const run = () => this.#commitSlice()
    if (delayMs === 'at once') queueMicrotask(run)
    else this.#init.clock.after(delayMs, run, { keepAlive: true })
  }

  #commitSlice(): void {
    this.#scheduled = false
    if (this.#waiting.size === 0) return
    this.#init.commit(this.#draw(SLICE_MS))
    this.#lastCommitMs = this.#init.clock.monotonic()
    if (this.#waiting.size > 0) this.#schedule(0)
  }
}

/**
 * Local writes that wait for their block: at once when idle, at most 20 ms later otherwise. The last write of a key
 * is what stays; large bursts are signed in slices, so that other work gets its turn. Writes that must be
 * held wait apart until they are released.
 */
import { type Clock, positionId } from '@mesh/core'
import type { WriteOutcome } from './ledger.ts'
import { MAX_COMMIT_DELAY_MS, SLICE_MS } from './limits.ts'
import type { Position } from './snapshot.ts'

export interface PendingWrite {
  readonly position: Position
  /** The Value to write; undefined deletes. */
  readonly value: string | undefined
  /** The version must lie above this; such a write happens even when the Value stays the same. */
  above?: bigint
  readonly settle: (outcome: WriteOutcome) => void
}

export interface WriteQueue {
  /** Takes the place of a pending write of the same key. */
  submit(write: Omit<PendingWrite, 'settle'>): Promise<WriteOutcome>
  /** Ends the pending write of a key, if there is one. */
  cancel(position: Position, outcome: WriteOutcome): void
  pending(position: Position): PendingWrite | undefined
  /** Pending puts of a bucket. */
  puts(bucket: string): readonly PendingWrite[]
  /** Commits all that waits and is not held, now. */
  flush(): void
  /** From now on writes of owned buckets wait for `release`. */
  hold(): void
  /** Are writes of this bucket held now? */
  holds(bucket: string): boolean
  /** Held writes get their turn, in the order in which they came. */
  release(): void
  /** Ends the held writes. */
  dropHeld(outcome: WriteOutcome): void
}

export interface WriteQueueInit {
  readonly clock: Clock
  readonly isOwned: (bucket: string) => boolean
  /** Makes one block of the writes that it draws, settles each. */
  readonly commit: (writes: Iterable<PendingWrite>) => void
}

export function createWriteQueue({ clock, isOwned, commit }: WriteQueueInit): WriteQueue {
  const waiting = new Map<string, PendingWrite>()
  const held = new Map<string, PendingWrite>()
  let holding = false
  let scheduled = false
  let lastCommitMs = Number.NEGATIVE_INFINITY

  /** Draws until `budgetMs` is used, at least one. */
  function* draw(budgetMs: number): Generator<PendingWrite> {
    const end = clock.now() + budgetMs
    for (const [id, write] of waiting) {
      waiting.delete(id)
      yield write
      if (clock.now() >= end) return
    }
  }
  const run = () => {
    scheduled = false
    if (waiting.size === 0) return
    commit(draw(SLICE_MS))
    lastCommitMs = clock.now()
    if (waiting.size > 0) schedule(0)
  }
  const schedule = (delayMs: number) => {
    if (scheduled) return
    scheduled = true
    if (delayMs < 0) queueMicrotask(run)
    else clock.after(delayMs, run, { keepAlive: true })
  }
  const scheduleNext = () => {
    const dueMs = lastCommitMs + MAX_COMMIT_DELAY_MS
    schedule(dueMs <= clock.now() ? -1 : dueMs - clock.now())
  }
  const pending = (position: Position) => {
    const id = positionId(position)
    return waiting.get(id) ?? held.get(id)
  }
  const cancel = (position: Position, outcome: WriteOutcome) => {
    const id = positionId(position)
    pending(position)?.settle(outcome)
    waiting.delete(id)
    held.delete(id)
  }
  const holds = (bucket: string) => holding && isOwned(bucket)
  return {
    submit({ position, value, above }) {
      const { promise, resolve } = Promise.withResolvers<WriteOutcome>()
      cancel(position, { state: 'superseded' })
      const write = { position, value, settle: resolve, ...(above === undefined ? {} : { above }) }
      if (holds(position.bucket)) held.set(positionId(position), write)
      else {
        waiting.set(positionId(position), write)
        scheduleNext()
      }
      return promise
    },
    cancel,
    pending,
    puts: (bucket) =>
      [...waiting.values(), ...held.values()].filter(
        ({ position, value }) => position.bucket === bucket && value !== undefined,
      ),
    flush() {
      if (waiting.size > 0) commit(draw(Number.POSITIVE_INFINITY))
    },
    hold() {
      holding = true
    },
    holds,
    release() {
      holding = false
      if (held.size === 0) return
      for (const [id, write] of held) waiting.set(id, write)
      held.clear()
      scheduleNext()
    },
    dropHeld(outcome) {
      for (const { settle } of held.values()) settle(outcome)
      held.clear()
    },
  }
}

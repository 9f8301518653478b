/**
 * Local writes that wait for their block: at once when idle, at most 20 ms later otherwise. The last write of a key
 * is what stays; large bursts are signed in slices, so that other work gets its turn.
 */
import type { Clock } from '@mesh/core'
import type { WriteOutcome } from './ledger.ts'
import { positionId } from './ledger-state.ts'
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
  /** Commits all that waits, now. */
  flush(): void
}

/** @param commit makes one block of the writes that it draws, settles each */
export function createWriteQueue(clock: Clock, commit: (writes: Iterable<PendingWrite>) => void): WriteQueue {
  const waiting = new Map<string, PendingWrite>()
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
  return {
    submit({ position, value, above }) {
      const { promise, resolve } = Promise.withResolvers<WriteOutcome>()
      const id = positionId(position)
      waiting.get(id)?.settle({ state: 'superseded' })
      waiting.delete(id)
      waiting.set(id, { position, value, settle: resolve, ...(above === undefined ? {} : { above }) })
      const dueMs = lastCommitMs + MAX_COMMIT_DELAY_MS
      schedule(dueMs <= clock.now() ? -1 : dueMs - clock.now())
      return promise
    },
    cancel(position, outcome) {
      const id = positionId(position)
      waiting.get(id)?.settle(outcome)
      waiting.delete(id)
    },
    pending: (position) => waiting.get(positionId(position)),
    puts: (bucket) =>
      [...waiting.values()].filter(
        ({ position, value }) => position.bucket === bucket && value !== undefined,
      ),
    flush() {
      if (waiting.size > 0) commit(draw(Number.POSITIVE_INFINITY))
    },
  }
}

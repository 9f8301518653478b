import type { Clock } from '@mesh/core'
import { popFirst, pushTimed } from './timed-heap.ts'

/** A clock that moves only when told; due callbacks run in order of time, then of registration. */
export interface ManualClock extends Clock {
  /** Moves time on, running what becomes due; between callbacks, promise callbacks that are ready run. */
  advance(ms: number): Promise<void>
  /** Sets the time of day forward or back by so many ms; monotonic time and what waits go on as before. */
  stepWall(ms: number): void
  /** Callbacks waiting, for leak checks. */
  readonly pending: number
}

interface Timer {
  readonly at: number
  readonly order: number
  /** Undefined once it ran or was cancelled. */
  run: (() => void) | undefined
}

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs
  let stepMs = 0
  let order = 0
  let pending = 0
  const timers: Timer[] = []
  /** The next one due, off the heap; cancelled ones are dropped on the way. */
  const takeDue = (until: number): Timer | undefined => {
    for (let first = timers[0]; first !== undefined && first.at <= until; first = timers[0]) {
      popFirst(timers)
      if (first.run !== undefined) return first
    }
    return undefined
  }
  return {
    now: () => now + stepMs,
    monotonic: () => now - startMs,
    after(delayMs, run) {
      const timer: Timer = { at: now + Math.max(0, delayMs), order: order++, run }
      pushTimed(timers, timer)
      pending++
      return () => {
        if (timer.run !== undefined) pending--
        timer.run = undefined
      }
    },
    async advance(ms) {
      const until = now + ms
      await runReadyCallbacks()
      for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) {
        const { run } = timer
        timer.run = undefined
        pending--
        now = Math.max(now, timer.at)
        run?.()
        await runReadyCallbacks()
      }
      now = until
    },
    stepWall(ms) {
      stepMs += ms
    },
    get pending() {
      return pending
    },
  }
}

/** Lets all promise callbacks run that are ready, and those that they make ready. */
async function runReadyCallbacks(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

import { type Clock, Heap } from '@mesh/core'

/** A clock that moves only when told; due callbacks run in order of time, then of registration. */
export interface ManualClock extends Clock {
  /** Moves time on, running what becomes due; between callbacks, promise callbacks that are ready run. */
  advance(ms: number): Promise<void>
  /** Sets the time of day forward or back by so many ms; monotonic time and what waits go on as before. */
  stepWall(ms: number): void
  /** Callbacks waiting, for leak checks. */
  readonly pending: number
}

/** The shortest wait that is one, in ms. */
const LEAST_WAIT_MS = 0.001

interface Timer {
  readonly at: number
  readonly order: number
  /** Undefined once it ran or was cancelled. */
  run: (() => void) | undefined
}

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  /** The time since the start in ms: small numbers, whose sums are not rounded by more than a timer notices. */
  let elapsed = 0
  let stepMs = 0
  let order = 0
  let pending = 0
  const timers = new Heap<Timer>(isBefore)
  /** The next one due, off the heap; cancelled ones are dropped on the way. */
  const takeDue = (until: number): Timer | undefined => {
    for (let first = timers.peek(); first !== undefined && first.at <= until; first = timers.peek()) {
      timers.pop()
      if (first.run !== undefined) return first
    }
    return undefined
  }
  return {
    now: () => startMs + elapsed + stepMs,
    monotonic: () => elapsed,
    after(delayMs, run) {
      // what is left of a wait by rounding must move time on, or its timer would be due for ever
      const waitMs = delayMs > 0 ? Math.max(delayMs, LEAST_WAIT_MS) : 0
      const timer: Timer = { at: elapsed + waitMs, order: order++, run }
      timers.push(timer)
      pending++
      return () => {
        if (timer.run !== undefined) pending--
        timer.run = undefined
      }
    },
    async advance(ms) {
      const until = elapsed + ms
      await runReadyCallbacks()
      for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) {
        const { run } = timer
        timer.run = undefined
        pending--
        elapsed = Math.max(elapsed, timer.at)
        run?.()
        await runReadyCallbacks()
      }
      elapsed = until
    },
    stepWall(ms) {
      stepMs += ms
    },
    get pending() {
      return pending
    },
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at
}

/** Lets all promise callbacks run that are ready, and those that they make ready. */
async function runReadyCallbacks(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

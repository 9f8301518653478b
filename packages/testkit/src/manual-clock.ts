import type { Clock } from '@mesh/core'

/** A clock that moves only when told; due callbacks run in order of time, then of registration. */
export interface ManualClock extends Clock {
  /** Moves time on, running what becomes due; between callbacks, promise callbacks that are ready run. */
  advance(ms: number): Promise<void>
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
    now: () => now,
    monotonic: () => now - startMs,
    after(delayMs, run) {
      const timer: Timer = { at: now + Math.max(0, delayMs), order: order++, run }
      push(timers, timer)
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
    get pending() {
      return pending
    },
  }
}

/** Lets all promise callbacks run that are ready, and those that they make ready. */
async function runReadyCallbacks(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

// A binary heap: each timer is before its two children at 2n + 1 and 2n + 2.

function isBefore(a: Timer | undefined, b: Timer | undefined): boolean {
  if (a === undefined || b === undefined) return a !== undefined
  return a.at === b.at ? a.order < b.order : a.at < b.at
}

function push(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!isBefore(timer, heap[above])) break
    swap(heap, at, above)
    at = above
  }
}

function popFirst(heap: Timer[]): void {
  swap(heap, 0, heap.length - 1)
  heap.pop()
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    const least = isBefore(heap[left + 1], heap[left]) ? left + 1 : left
    if (!isBefore(heap[least], heap[at])) return
    swap(heap, at, least)
    at = least
  }
}

function swap(heap: Timer[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]]
  if (first === undefined || second === undefined) return
  heap[a] = second
  heap[b] = first
}

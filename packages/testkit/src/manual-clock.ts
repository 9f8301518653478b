import type { Clock } from '@mesh/core'

/** A clock that moves only when told; due callbacks run in order of time, then of registration. */
export interface ManualClock extends Clock {
  /** Moves time on, running what becomes due; between callbacks pending promises settle. */
  advance(ms: number): Promise<void>
  /** Callbacks waiting, for leak checks. */
  readonly pending: number
}

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startMs
  let order = 0
  const timers = new Map<number, { at: number; run: () => void }>()
  const nextDue = (until: number) => {
    let found: number | undefined
    for (const [id, timer] of timers) {
      if (timer.at > until) continue
      const best = found === undefined ? undefined : timers.get(found)
      if (best === undefined || timer.at < best.at) found = id
    }
    return found
  }
  return {
    now: () => now,
    after(delayMs, run) {
      const id = order++
      timers.set(id, { at: now + Math.max(0, delayMs), run })
      return () => timers.delete(id)
    },
    async advance(ms) {
      const until = now + ms
      await settle()
      for (let id = nextDue(until); id !== undefined; id = nextDue(until)) {
        const timer = timers.get(id)
        timers.delete(id)
        if (timer === undefined) continue
        now = Math.max(now, timer.at)
        timer.run()
        await settle()
      }
      now = until
    },
    get pending() {
      return timers.size
    },
  }
}

/** Lets all promise callbacks run that are ready, and those that they make ready. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

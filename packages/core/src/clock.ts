/** Time as an argument: everything that waits or asks the time gets a Clock, so that tests own time. */
export interface Clock {
  /** Unix time in milliseconds (may have a fraction). */
  now(): number
  /** Milliseconds since some moment in the past, which setting the time of day does not change: for delays. */
  monotonic(): number
  /**
   * Calls `run` once after `delayMs`, however long that is; the returned function cancels. Does not keep the process
   * alive unless asked to, for work that somebody already counts on.
   */
  after(delayMs: number, run: () => void, options?: { readonly keepAlive?: boolean }): () => void
}

/**
 * The difference from the wall clock, in ms, beyond which that clock was set or the machine slept, which the
 * finer monotonic clock does not count.
 */
const MAX_DRIFT_MS = 5
/** The longest delay of one timer, in ms: a longer one would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** The number of ms that makes the monotonic clock's time a time of day. */
let offsetMs = performance.timeOrigin

export const systemClock: Clock = {
  now() {
    const precise = offsetMs + performance.now()
    const wall = Date.now()
    if (Math.abs(precise - wall) <= MAX_DRIFT_MS) return precise
    offsetMs += wall - precise
    return wall
  },
  monotonic: () => performance.now(),
  after(delayMs, run, options) {
    let timer: ReturnType<typeof setTimeout>
    const wait = (leftMs: number) => {
      timer =
        leftMs > MAX_TIMER_MS
          ? setTimeout(() => wait(leftMs - MAX_TIMER_MS), MAX_TIMER_MS)
          : setTimeout(run, leftMs)
      if (typeof timer === 'object' && options?.keepAlive !== true) timer.unref()
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
}

/**
 * Resolves after `delayMs` of the clock's time; rejects with the signal's reason when it aborts first. Keeps the
 * process alive meanwhile, as somebody awaits it.
 */
export function delay(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const onTime = () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const cancel = clock.after(delayMs, onTime, { keepAlive: true })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

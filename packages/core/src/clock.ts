/** Time as an argument: everything that waits or asks the time gets a Clock, so that tests own time. */
export interface Clock {
  /** Unix time in milliseconds (may have a fraction). */
  now(): number
  /** Milliseconds since some moment in the past, which setting the time of day does not change: for delays. */
  monotonic(): number
  /**
   * Calls `run` once after `delayMs`; the returned function cancels. Does not keep the process alive unless asked
   * to, for work that somebody already counts on.
   */
  after(delayMs: number, run: () => void, options?: { readonly keepAlive?: boolean }): () => void
}

/**
 * The difference from the wall clock, in ms, beyond which that clock was set or the machine slept, which the
 * finer monotonic clock does not count.
 */
const MAX_DRIFT_MS = 5
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
    const timer = setTimeout(run, delayMs)
    if (typeof timer === 'object' && options?.keepAlive !== true) timer.unref()
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

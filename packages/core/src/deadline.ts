/** Work that ends in time: a signal that aborts by the clock, and waits that end with a signal. */
import type { Clock } from './clock.ts'

export interface DeadlineInit {
  readonly clock: Clock
  /** How long the work may take, in ms of the clock. */
  readonly ms: number
  /** Ends the work earlier, with its own reason. */
  readonly signal?: AbortSignal | undefined
  /** Makes the reason with which the work ends when its time is over. */
  readonly reason: () => Error
}

export interface Deadline {
  /** Aborts when the time is over, or with the outer signal. */
  readonly signal: AbortSignal
  /** Frees the timer and lets go of the outer signal; the deadline does not abort any more. */
  stop(): void
}

/** Starts a deadline. Whoever creates it calls `stop` when the work is done; the process is kept alive until then. */
export function createDeadline({ clock, ms, signal: outer, reason }: DeadlineInit): Deadline {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer?.reason)
  if (outer?.aborted === true) onAbort()
  const cancel = clock.after(ms, () => controller.abort(reason()), { keepAlive: true })
  outer?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    stop() {
      cancel()
      outer?.removeEventListener('abort', onAbort)
    },
  }
}

/**
 * Runs `work` with a signal that aborts when its time is over. It waits for the work itself, which has to heed the
 * signal; `untilAborted` is for work that cannot.
 */
export async function withDeadline<T>(
  init: DeadlineInit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = createDeadline(init)
  try {
    return await work(deadline.signal)
  } finally {
    deadline.stop()
  }
}

/** The promise's outcome, or a rejection with the signal's reason where that aborts first. The work goes on. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([aborted.promise, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

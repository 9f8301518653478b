/** Work that ends in time: a signal that aborts by the clock, and waits that end with a signal. */
import type { Clock } from './clock.ts'

export interface DeadlineInit {
  readonly clock: Clock
  /** How long the work may take, in ms of the clock. */
  readonly ms: number
  /** Ends the work earlier, with its own reason. */
  readonly signal?: AbortSignal | undefined
  /** Counts the time in which this process had its turns, as `afterTurns` does. */
  readonly isPatient?: boolean
  /** Makes the reason with which the work ends when its time is over. */
  readonly reason: () => Error
}

export interface Deadline {
  /** Aborts when the time is over, or with the outer signal. */
  readonly signal: AbortSignal
  /** Frees the timer and lets go of the outer signal; the deadline does not abort any more. */
  stop(): void
}

/** The length of a step in which time is counted that a process may have missed, in ms. */
const STEP_MS = 250
/** How many times as long it may take at most. */
const MOST_PATIENCE = 4

/**
 * Calls `run` once after `ms` in which this process had its turns, and after four times as long at most. On a busy machine timers
 * come late and input stays unread, which is not the remote's fault. The returned function cancels.
 */
export function afterTurns(
  clock: Clock,
  ms: number,
  run: () => void,
  options?: { readonly keepAlive?: boolean },
): () => void {
  const endsAt = clock.monotonic() + MOST_PATIENCE * ms
  let leftMs = ms
  let cancel = () => {}
  const step = (): void => {
    const stepMs = Math.min(STEP_MS, leftMs, endsAt - clock.monotonic())
    if (stepMs <= 0) return run()
    leftMs -= stepMs
    cancel = clock.after(stepMs, step, options)
  }
  step()
  return () => cancel()
}

/** Starts a deadline. Whoever creates it calls `stop` when the work is done; the process is kept alive until then. */
export function createDeadline({
  clock,
  ms,
  signal: outer,
  isPatient = false,
  reason,
}: DeadlineInit): Deadline {
  const controller = new AbortController()
  const onAbort = () => controller.abort(outer?.reason)
  if (outer?.aborted === true) onAbort()
  const onTime = () => controller.abort(reason())
  const keepAlive = { keepAlive: true }
  const cancel = isPatient ? afterTurns(clock, ms, onTime, keepAlive) : clock.after(ms, onTime, keepAlive)
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

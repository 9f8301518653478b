/** Growing delays between tries that fail. */
import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'

export interface BackoffBounds {
  /** Delay after the first failure, in ms. */
  readonly leastMs: number
  /** Longest delay, in ms. */
  readonly mostMs: number
}

/**
 * Gives the delay before the next try, in ms. Doubles with each failure, up to the longest delay.
 *
 * @param failures number of failures in a row before this one
 * @param random number from 0 to 1 that makes peers differ: the delay is between a half and the whole. 1: the whole delay
 */
export function backoffMs({ leastMs, mostMs }: BackoffBounds, failures: number, random = 1): number {
  const wholeMs = Math.min(mostMs, leastMs * 2 ** Math.min(Math.max(failures, 0), 30))
  return wholeMs * (0.5 + random / 2)
}

/** The tries of one thing, with the delays between them. */
export interface Backoff {
  /** Notes a failure: the next try waits. */
  failed(): void
  /** Notes a success: the next try need not wait. */
  succeeded(): void
  /** Milliseconds until the next try; 0: now. */
  remainingMs(): number
  /** Allows the next try `spacingMs` after the last failure, because a success has become likely. */
  hasten(spacingMs: number): void
}

export function createBackoff(
  bounds: BackoffBounds,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Backoff {
  let failures = 0
  let failedAtMs = 0
  let notBeforeMs = 0
  return {
    failed() {
      failedAtMs = clock.monotonic()
      notBeforeMs = failedAtMs + backoffMs(bounds, failures++, random.float())
    },
    succeeded() {
      failures = 0
      notBeforeMs = 0
    },
    remainingMs: () => Math.max(0, notBeforeMs - clock.monotonic()),
    hasten(spacingMs) {
      notBeforeMs = Math.min(notBeforeMs, failedAtMs + spacingMs)
    },
  }
}

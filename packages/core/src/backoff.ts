import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Growing waits between tries that fail. */
export interface Backoff {
  /** Notes a failure: the next try may come after a wait, of which a random half makes peers differ. */
  failed(): void
  succeeded(): void
  /** Milliseconds until the next try may come; 0: now. */
  remainingMs(): number
  /** There is reason to hope: the next try may come `spacingMs` after the last failure. */
  hasten(spacingMs: number): void
}

export function createBackoff(
  init: { readonly leastMs: number; readonly mostMs: number },
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Backoff {
  let failures = 0
  let failedAt = 0
  let notBefore = 0
  return {
    failed() {
      const wait = Math.min(init.mostMs, init.leastMs * 2 ** Math.min(failures, 30))
      failures++
      failedAt = clock.monotonic()
      notBefore = failedAt + wait * (0.5 + random.float() / 2)
    },
    succeeded() {
      failures = 0
      notBefore = 0
    },
    remainingMs: () => Math.max(0, notBefore - clock.monotonic()),
    hasten(spacingMs) {
      notBefore = Math.min(notBefore, failedAt + spacingMs)
    },
  }
}

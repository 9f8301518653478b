/**
 * Bounds what remote peers may take of this process: places, bytes, time of the event loop, and rates. Browser-safe.
 *
 * @example
 * ```ts
 * import { systemClock } from '@mesh/core'
 * import { createRate, loopBudget, Scope } from '@mesh/core/limits'
 *
 * const connections = new Scope({ all: 64, perAddress: 8 })
 * const place = connections.reserve({ address: '192.0.2.7', end: (reason) => console.log(reason.message) })
 * const questions = createRate({ perAddress: { perSecond: 10, burst: 20 } }, systemClock)
 * if (place !== undefined && questions.take({ address: '192.0.2.7' }))
 *   loopBudget(systemClock).later('strangers', () => place.release())
 * ```
 */
export { type Backoff, type BackoffBounds, backoffMs, createBackoff } from './backoff.ts'
export { endOfTurn } from './end-of-turn.ts'
export { type Lane, type LoopBudget, loopBudget, TURN_MS, type WaitOptions } from './loop-budget.ts'
export {
  createRate,
  createTokenBucket,
  type Rate,
  type RateInit,
  type RateLimit,
  type TokenBucket,
} from './rate.ts'
export { type Claim, type Place, Scope, type ScopeLimits } from './scope.ts'

/** How often this node says again what it holds: seldom for one key, and so often for all together. */
import { BoundedMap, type Clock, positionId } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import { ANNOUNCE_BURST, ANNOUNCE_PAUSE_MS, ANNOUNCES_PER_SECOND, MAX_CONFLICTS } from '../limits.ts'
import type { Position } from '../snapshot.ts'

export class AnnounceRate {
  readonly #clock: Clock
  /** When it was said last, by key, in monotonic ms. */
  readonly #lastMs = new BoundedMap<string, number>(MAX_CONFLICTS)
  readonly #all: TokenBucket

  constructor(clock: Clock) {
    this.#clock = clock
    this.#all = createTokenBucket({ perSecond: ANNOUNCES_PER_SECOND, burst: ANNOUNCE_BURST }, clock)
  }

  /** True when it may be said now, which is noted. */
  take(position: Position): boolean {
    const nowMs = this.#clock.monotonic()
    const id = positionId(position)
    const lastMs = this.#lastMs.get(id)
    if (lastMs !== undefined && nowMs - lastMs < ANNOUNCE_PAUSE_MS) return false
    if (!this.#all.take()) return false
    this.#lastMs.set(id, nowMs)
    return true
  }
}

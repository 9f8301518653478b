/** Keeps what the rules refused lately: alike packets as one, the newest first. */
import type { Refusal } from '@mesh/engine'
import { MAX_KEPT_REFUSALS } from './limits.ts'
import type { CountedRefusal } from './rules-status.ts'

export class RefusalLog {
  /** Stands in the order of the last packets. */
  readonly #refusals = new Map<string, CountedRefusal>()

  add(refusals: readonly Refusal[], now: number): void {
    for (const refusal of refusals) {
      const key = [refusal.source, refusal.destination, refusal.protocol, refusal.port].join(' ')
      const before = this.#refusals.get(key)
      this.#refusals.delete(key)
      const count = refusal.count + (before?.count ?? 0)
      this.#refusals.set(key, { ...refusal, count, since: before?.since ?? now, last: now })
    }
    const surplus = this.#refusals.size - MAX_KEPT_REFUSALS
    for (const key of [...this.#refusals.keys()].slice(0, Math.max(0, surplus))) this.#refusals.delete(key)
  }

  list(): readonly CountedRefusal[] {
    return [...this.#refusals.values()].reverse()
  }
}

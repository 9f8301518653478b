/** Counts what was refused, by who asked whom. Bounded: the pairs that were not refused for longest go. */
import { BoundedMap, type Clock } from '@mesh/core'
import { MAX_REFUSED_PAIRS } from '../limits.ts'
import { type Endpoint, formatEndpoint } from './judge.ts'

/** The refusals of one pair. */
export interface RefusalCount {
  readonly from: Endpoint
  readonly to: Endpoint
  /** The last of what was refused, as sentences say it: `tcp 5432`. */
  readonly on: string
  readonly count: number
  /** The time of the last one, in Unix ms. */
  readonly lastAt: number
}

export class RefusalCounts {
  readonly #clock: Pick<Clock, 'now'>
  readonly #counts = new BoundedMap<string, RefusalCount>(MAX_REFUSED_PAIRS)
  readonly #listeners = new Set<(count: RefusalCount) => void>()
  #total = 0

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** All that was refused, by pairs that went too. */
  get total(): number {
    return this.#total
  }

  add({ from, to, on, count }: Omit<RefusalCount, 'lastAt'>): void {
    const key = `${formatEndpoint(from)} ${formatEndpoint(to)}`
    const before = this.#counts.get(key)?.count ?? 0
    this.#total += count
    const counted = { from, to, on, count: before + count, lastAt: this.#clock.now() }
    this.#counts.set(key, counted)
    for (const listener of this.#listeners) listener(counted)
  }

  /** Calls the listener after something was refused; the returned function ends it. */
  onRefused(listener: (count: RefusalCount) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The pairs, the last refused first. */
  all(): readonly RefusalCount[] {
    return [...this.#counts.values()].reverse()
  }
}

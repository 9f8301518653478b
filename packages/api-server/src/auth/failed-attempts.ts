/** Counts wrong tokens, so that nobody tries many: by address, and in all, since addresses may cost nothing. */
import { addressGroup, BoundedMap, type Clock } from '@mesh/core'
import {
  FAILURE_WINDOW_MS,
  MAX_RATED_ADDRESSES,
  MAX_WRONG_TOKENS,
  MAX_WRONG_TOKENS_PER_ADDRESS,
} from '../limits.ts'

interface Window {
  readonly endsAt: number
  count: number
  /** The last wrong token as hex of its digest: a page that goes on with an old one guesses nothing. */
  last: string
}

export class FailedAttempts {
  readonly #clock: Clock
  readonly #byAddress = new BoundedMap<string, Window>(MAX_RATED_ADDRESSES)
  /** Addresses that a right token came from. */
  readonly #proven = new BoundedMap<string, true>(MAX_RATED_ADDRESSES)
  #all: Window | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Gives the time, in ms, for which tokens that could be guessed are not tried from this address; 0 when they are. */
  blockedMs(address: string): number {
    const now = this.#clock.monotonic()
    const group = addressGroup(address)
    const own = live(this.#byAddress.get(group), now)
    if (own !== undefined && own.count >= MAX_WRONG_TOKENS_PER_ADDRESS) return own.endsAt - now
    const all = live(this.#all, now)
    if (all === undefined || all.count < MAX_WRONG_TOKENS || this.#proven.has(group)) return 0
    return all.endsAt - now
  }

  /** @param digest hex of the wrong token's digest */
  failed(address: string, digest: string): void {
    const now = this.#clock.monotonic()
    const group = addressGroup(address)
    const own = live(this.#byAddress.get(group), now) ?? newWindow(now)
    if (own.last === digest) return
    own.count++
    own.last = digest
    this.#byAddress.set(group, own)
    this.#all = live(this.#all, now) ?? newWindow(now)
    this.#all.count++
  }

  succeeded(address: string): void {
    this.#proven.set(addressGroup(address), true)
  }
}

function newWindow(now: number): Window {
  return { endsAt: now + FAILURE_WINDOW_MS, count: 0, last: '' }
}

function live(window: Window | undefined, now: number): Window | undefined {
  return window !== undefined && window.endsAt > now ? window : undefined
}

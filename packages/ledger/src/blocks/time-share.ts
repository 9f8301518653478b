/** How much of the time somebody may use: so many milliseconds at once, and a part of the time after that. */
import { type Clock, delay } from '@mesh/core'

export interface TimeShareInit {
  /** What may be used at once, in ms. */
  readonly burstMs: number
  /** In the long run one part in this many of the time may be used. */
  readonly oneIn: number
}

export class TimeShare {
  readonly #init: TimeShareInit
  readonly #clock: Clock
  #leftMs: number
  #refilledAtMs: number

  constructor(init: TimeShareInit, clock: Clock) {
    this.#init = init
    this.#clock = clock
    this.#leftMs = init.burstMs
    this.#refilledAtMs = clock.monotonic()
  }

  /** Milliseconds that may be used now; zero or less: none. */
  get leftMs(): number {
    const { burstMs, oneIn } = this.#init
    const nowMs = this.#clock.monotonic()
    this.#leftMs = Math.min(burstMs, this.#leftMs + (nowMs - this.#refilledAtMs) / oneIn)
    this.#refilledAtMs = nowMs
    return this.#leftMs
  }

  use(ms: number): void {
    this.#leftMs -= ms
  }

  /** Waits until `ms` may be used; rejects with the signal's reason. */
  async rest(ms: number, signal: AbortSignal): Promise<void> {
    const missingMs = ms - this.leftMs
    if (missingMs > 0) await delay(this.#clock, missingMs * this.#init.oneIn, signal)
  }
}

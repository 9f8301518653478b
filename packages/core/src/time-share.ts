import { type Clock, delay } from './clock.ts'

export interface TimeShareInit {
  /** The time that may be used at once, in ms. */
  readonly burstMs: number
  /** The share in the long run: one ms in this many. */
  readonly oneIn: number
}

/**
 * How much of this thread's time somebody's work may use: so many milliseconds at once, and a part of the time after
 * that, by monotonic time. Whoever works takes turns, measures each, and says what it used.
 */
export class TimeShare {
  readonly #init: TimeShareInit
  readonly #clock: Clock
  #leftMs: number
  #refilledAtMs: number
  /** Those who wait for a turn, and when the last of them has it. */
  #waiting = 0
  #lastTurn: Promise<void> = Promise.resolve()
  /** The number of works that `run` has under way, and until when their time is counted. */
  #running = 0
  #countedToMs = 0

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

  /**
   * One turn after the other, in the order in which they were asked for; undefined: at once, as nobody waits and some
   * time is left. Rejects with the signal's reason.
   * @param ms what must be left where one has to wait
   */
  turn(ms: number, signal: AbortSignal): Promise<void> | undefined {
    if (this.#waiting === 0 && this.leftMs > 0) return undefined
    this.#waiting++
    const turn = this.#lastTurn
      .then(() => (this.leftMs > 0 ? undefined : this.rest(ms, signal)))
      .finally(() => this.#waiting--)
    this.#lastTurn = turn.catch(() => undefined)
    return turn
  }

  /**
   * Does work in its turn and counts the time until its outcome is there, once for works that overlap. Rejects with the
   * signal's reason, and with what the work throws.
   * @param ms what must be left where the work has to wait
   */
  async run<T>(ms: number, signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
    const turn = this.turn(ms, signal)
    if (turn !== undefined) await turn
    if (this.#running++ === 0) this.#countedToMs = this.#clock.monotonic()
    try {
      return await work()
    } finally {
      const nowMs = this.#clock.monotonic()
      this.use(nowMs - this.#countedToMs)
      this.#countedToMs = nowMs
      this.#running--
    }
  }
}

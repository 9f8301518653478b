/** The time of this thread that the sessions of all peers use together: in slices, in turn, and a share of all time. */
import { type Clock, TimeShare } from '@mesh/core'
import { SESSIONS_BURST_MS, SESSIONS_TIME_SHARE, SLICE_MS } from '../limits.ts'

export class SessionTurns {
  /** The share of the time, for work that takes its turns itself. */
  readonly time: TimeShare
  readonly #clock: Clock
  readonly #signal: AbortSignal

  constructor(clock: Clock, signal: AbortSignal) {
    this.time = new TimeShare({ burstMs: SESSIONS_BURST_MS, oneIn: SESSIONS_TIME_SHARE }, clock)
    this.#clock = clock
    this.#signal = signal
  }

  /** Does work of a few milliseconds when it has its turn. Rejects with the signal's reason, and with what it throws. */
  run<T>(work: () => T): Promise<T> {
    return this.time.run(SLICE_MS, this.#signal, work)
  }

  /** Does work that yields after each step, as many steps as fit into a slice at a time. */
  async runSteps<T>(steps: Generator<undefined, T>): Promise<T> {
    for (;;) {
      const step = await this.run(() => {
        const startMs = this.#clock.monotonic()
        let next = steps.next()
        while (next.done !== true && this.#clock.monotonic() - startMs < SLICE_MS) next = steps.next()
        return next
      })
      if (step.done === true) return step.value
    }
  }
}

/** Timers that end together with whoever started them. */
import type { Clock } from '@mesh/core'

/** Any number of pending calls; none of them is made after `stop`. */
export class TimerSet {
  readonly #clock: Clock
  readonly #cancels = new Set<() => void>()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `run` once after `delayMs`. */
  later(delayMs: number, run: () => void): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(cancel)
      if (!this.#isStopped) run()
    })
    this.#cancels.add(cancel)
  }

  stop(): void {
    this.#isStopped = true
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }
}

/** One call that follows its first request after a fixed time, however often it is asked for meanwhile. */
export class DelayedCall {
  readonly #clock: Clock
  readonly #delayMs: number
  readonly #run: () => void
  #cancel: (() => void) | undefined

  constructor(clock: Clock, delayMs: number, run: () => void) {
    this.#clock = clock
    this.#delayMs = delayMs
    this.#run = run
  }

  /** Asks for the call; does nothing when it has been asked for already. */
  request(): void {
    this.#cancel ??= this.#clock.after(this.#delayMs, () => {
      this.#cancel = undefined
      this.#run()
    })
  }

  /** Asks for the call anew, so that its time begins again. */
  restart(): void {
    this.stop()
    this.request()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

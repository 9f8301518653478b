/** Growing waits before something that failed is tried again, and the timer that ends a wait. */
import { type Clock, type Random } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import { STREAM_EARLY_RETRY_MS, STREAM_RETRY } from './limits.ts'

export class StreamRetry {
  readonly #backoff: Backoff
  readonly #clock: Clock
  readonly #run: () => void
  #cancel: (() => void) | undefined

  /** @param run called when a wait is over */
  constructor(components: { readonly clock: Clock; readonly random: Random }, run: () => void) {
    this.#backoff = createBackoff(STREAM_RETRY, components)
    this.#clock = components.clock
    this.#run = run
  }

  /** True while the wait after a failure lasts; `run` is called when it is over. */
  isWaiting(): boolean {
    const waitMs = this.#backoff.remainingMs()
    if (waitMs <= 0) return false
    this.#cancel ??= this.#clock.after(waitMs, () => this.#now())
    return true
  }

  /** Ends the wait, as the peer came back, unless it was tried a moment ago. Calls `run`. */
  hasten(): void {
    this.#backoff.hasten(STREAM_EARLY_RETRY_MS)
    this.#now()
  }

  failed(): void {
    this.#backoff.failed()
  }

  succeeded(): void {
    this.#backoff.succeeded()
  }

  stop(): void {
    this.#cancel?.()
  }

  #now(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#run()
  }
}

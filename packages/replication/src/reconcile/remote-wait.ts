/**
 * How long the remote of one session has kept it waiting for nothing. A remote that says a little now and then is never
 * silent for long. Therefore the sum of the waits counts, less a credit for each entry that it brought.
 */
import type { Clock } from '@mesh/core'
import { ENTRY_WAIT_MS, MESSAGE_TIMEOUT_MS, SLOW_SESSION_MS } from '../limits.ts'
import { within } from './deadline.ts'

export class RemoteWait {
  readonly #clock: Clock
  readonly #onSlow: () => void
  #waitedMs = 0
  #beganMs: number | undefined
  #isSlow = false

  /** @param onSlow called once, when the remote has kept the session waiting for `SLOW_SESSION_MS` in all */
  constructor(clock: Clock, onSlow: () => void = () => {}) {
    this.#clock = clock
    this.#onSlow = onSlow
  }

  /** The time that the session has waited for its remote until now for nothing, in ms. */
  get waitedMs(): number {
    const since = this.#beganMs === undefined ? 0 : this.#clock.monotonic() - this.#beganMs
    return this.#waitedMs + since
  }

  /** The outcome of what hangs on the remote, or a rejection with `replication.timeout`. One at a time. */
  async for<T>(promise: Promise<T>): Promise<T> {
    this.#beganMs = this.#clock.monotonic()
    const cancel = this.#isSlow ? () => {} : this.#clock.after(SLOW_SESSION_MS - this.#waitedMs, this.#tell)
    try {
      return await within(this.#clock, MESSAGE_TIMEOUT_MS, promise)
    } finally {
      cancel()
      this.#waitedMs = this.waitedMs
      this.#beganMs = undefined
    }
  }

  /** The remote brought so many entries that this node lacked. */
  brought(entries: number): void {
    this.#waitedMs = Math.max(0, this.#waitedMs - entries * ENTRY_WAIT_MS)
  }

  readonly #tell = (): void => {
    this.#isSlow = true
    this.#onSlow()
  }
}

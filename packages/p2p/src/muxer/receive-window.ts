/**
 * How far the other side of a stream may run ahead of what was read. An update goes out when half of the window is used, as
 * go-yamux does it. The window doubles while half of it takes at most 4 round trips, so it ends at what the path needs.
 */
import { FIRST_WINDOW_BYTES } from './frame.ts'
import { STREAM_WINDOW_BYTES } from './limits.ts'

/** Number of round trips in which half of the window must be used for it to grow. */
const GROWTH_ROUND_TRIPS = 4

export class ReceiveWindow {
  #size = FIRST_WINDOW_BYTES
  /** Bytes that the other side may still send. */
  #left = FIRST_WINDOW_BYTES
  #sinceMs: number

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  /** Counts what came. False: the other side may not send so much. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /**
   * Gives the number of bytes to announce; 0 for no update yet.
   *
   * @param unread bytes that came and were not read
   * @param rttMs shortest round trip; undefined while none is known
   */
  open(unread: number, nowMs: number, rttMs: number | undefined): number {
    if ((this.#size - this.#left - unread) * 2 < this.#size) return 0
    if (rttMs !== undefined && nowMs - this.#sinceMs <= GROWTH_ROUND_TRIPS * rttMs)
      this.#size = Math.min(this.#size * 2, STREAM_WINDOW_BYTES)
    const bytes = this.#size - this.#left - unread
    this.#left += bytes
    this.#sinceMs = nowMs
    return bytes
  }

  /** Begins to measure how long half of the window takes: reading goes on after a pause. */
  restart(nowMs: number): void {
    this.#sinceMs = nowMs
  }
}

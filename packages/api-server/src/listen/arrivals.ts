/**
 * Tells whether more connections are likely to wait to be taken. Node 26.10 (libuv 1.52) takes one in each turn of the event loop, so
 * that where requests fill each turn 37 that came at once kept the next one, a probe of the node's health, waiting for 300 ms.
 */
import type { Clock } from '@mesh/core'
import { ARRIVALS_IN_ROW, ARRIVALS_MS } from '../limits.ts'

export class Arrivals {
  readonly #clock: Pick<Clock, 'monotonic'>
  #hasCome = false
  /** The number of turns of requests, one after the other, in which a connection came. */
  #inRow = 0
  /** When they began to go first; undefined: they do not. */
  #sinceMs: number | undefined

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** A connection was taken. */
  note(): void {
    this.#hasCome = true
  }

  /** Connections have come in each of the last turns. */
  get areMany(): boolean {
    return this.#inRow >= ARRIVALS_IN_ROW
  }

  /** Must be asked at the beginning of each turn of requests: true when it should be left to connections that come. */
  goFirst(): boolean {
    const now = this.#clock.monotonic()
    // however long a turn was: the longer they are, the more wait
    this.#inRow = this.#hasCome ? this.#inRow + 1 : 0
    this.#hasCome = false
    if (!this.areMany) {
      this.#sinceMs = undefined
      return false
    }
    this.#sinceMs ??= now
    if (now - this.#sinceMs < ARRIVALS_MS) return true
    this.#sinceMs = undefined
    return false
  }
}

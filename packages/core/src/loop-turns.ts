import type { Clock } from './clock.ts'

/**
 * How much of one turn of the event loop somebody's work may take: what comes in one block of bytes is handled at once
 * by most libraries, however much it is. Who finds no time left waits for a later turn, in the order in which they asked.
 */
export class LoopTurns {
  readonly #turnMs: number
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #waiting = new Set<() => void>()
  /** When this turn's first work began; undefined while there was none. */
  #startMs: number | undefined

  /** @param turnMs the time of all work in one turn, in ms */
  constructor(turnMs: number, clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#turnMs = turnMs
    this.#clock = clock
  }

  /** False when the work of this turn has used its time. */
  isTimeLeft(): boolean {
    const now = this.#clock.monotonic()
    if (this.#startMs === undefined) {
      this.#startMs = now
      this.#clock.after(0, () => this.#next())
    }
    return now - this.#startMs < this.#turnMs
  }

  /** Calls `work` in the first turn that has time for it. It must not throw. */
  later(work: () => void): void {
    this.#waiting.add(work)
    // a turn that has begun looks who waits when the next one comes
    this.isTimeLeft()
  }

  #next(): void {
    this.#startMs = undefined
    for (const work of this.#waiting) {
      if (!this.isTimeLeft()) return
      this.#waiting.delete(work)
      work()
    }
  }
}

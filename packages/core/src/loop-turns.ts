import type { Clock } from './clock.ts'

/** How many microtasks there are at most from a promise that resolves to the work of who awaits it, with some to spare. */
const HOPS = 32

/**
 * How much of one turn of the event loop somebody's work may take: what comes in one block of bytes is handled at once
 * by most libraries, however much it is. Who finds no time left waits for a later turn, in the order in which they asked.
 */
export class LoopTurns {
  readonly #turnMs: () => number
  readonly #clock: Pick<Clock, 'monotonic' | 'after'>
  readonly #waiting = new Set<() => void>()
  /** Those who wait by `turn`, the first first. */
  readonly #resting: (() => void)[] = []
  /** When this turn's first work began; undefined while there was none. */
  #startMs: number | undefined
  /** How long this turn may be, in ms. */
  #limitMs = 0

  /** @param turnMs the time of all work in one turn, in ms; a function is asked when the turn's first work would begin */
  constructor(turnMs: number | (() => number), clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#turnMs = typeof turnMs === 'number' ? () => turnMs : turnMs
    this.#clock = clock
  }

  /** False when the work of this turn has used its time. */
  isTimeLeft(): boolean {
    const now = this.#clock.monotonic()
    if (this.#startMs === undefined) {
      this.#startMs = now
      this.#limitMs = this.#turnMs()
      this.#clock.after(0, () => this.#next())
    }
    return now - this.#startMs < this.#limitMs
  }

  /** Calls `work` in the first turn that has time for it. It must not throw. */
  later(work: () => void): void {
    this.#waiting.add(work)
    // a turn that has begun looks who waits when the next one comes
    this.isTimeLeft()
  }

  /** Begins work at once where this turn has time, else in the first one that has; what it does before its first wait counts. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.size === 0 && this.isTimeLeft()) return work()
    return new Promise((resolve, reject) => this.later(() => void work().then(resolve, reject)))
  }

  /**
   * Undefined: this turn has time left. Else resolves in a later one, when those who waited before have gone on: one after
   * the other, as of several that resolve at once nobody would see how long the others take.
   */
  turn(): Promise<void> | undefined {
    if (this.#resting.length === 0 && this.isTimeLeft()) return undefined
    return new Promise((resolve) => {
      if (this.#resting.push(resolve) === 1) this.#clock.after(0, () => void this.#goOn())
    })
  }

  /**
   * Takes the steps of a work, as many in each turn as there is time for, and calls `done` with what it comes to: at once, where
   * this turn has time for all of them. The time counts from the end of a turn's first step. The returned function ends it. Neither the steps nor `done` may throw.
   */
  walk<T>(steps: Iterator<unknown, T>, done: (result: T) => void): () => void {
    let isEnded = false
    const goOn = () => {
      while (!isEnded) {
        const step = steps.next()
        if (step.done === true) return done(step.value)
        if (!this.isTimeLeft()) return this.later(goOn)
      }
    }
    goOn()
    return () => void (isEnded = true)
  }

  readonly #goOn = async (): Promise<void> => {
    while (this.#resting.length > 0 && this.isTimeLeft()) {
      this.#resting[0]?.()
      for (let hop = 0; hop < HOPS; hop++) await Promise.resolve()
      this.#resting.shift()
    }
    if (this.#resting.length > 0) this.#clock.after(0, () => void this.#goOn())
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

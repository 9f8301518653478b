/** Reads a socket within the budget of the event loop: it pauses, and its block waits, when no time is left. */
import type { LoopBudget } from '@mesh/core/limits'

interface PacedReadsInit {
  readonly budget: Pick<LoopBudget, 'isTimeLeft' | 'later'>
  /** The address group of the other side: sockets of one address take turns. */
  readonly key: string
  readonly source: { pause(): unknown; resume(): unknown }
  readonly onBytes: (bytes: Uint8Array) => void
}

const LANE = 'members'

export class PacedReads {
  readonly #init: PacedReadsInit
  readonly #waiting: Uint8Array[] = []
  #isDue = false
  #isPaused = false

  constructor(init: PacedReadsInit) {
    this.#init = init
  }

  /** Hands over what the source has read, now or in a later turn. */
  take(bytes: Uint8Array): void {
    const { budget, source, onBytes } = this.#init
    if (this.#waiting.length === 0 && !this.#isPaused && budget.isTimeLeft(LANE)) return onBytes(bytes)
    this.#waiting.push(bytes)
    source.pause()
    this.#goOnLater()
  }

  /** Hands nothing over until `resume`. */
  pause(): void {
    this.#isPaused = true
    this.#init.source.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#waiting.length > 0) this.#goOnLater()
    else this.#init.source.resume()
  }

  /** Hands over what waits: nothing more will come. */
  end(): void {
    for (const bytes of this.#waiting.splice(0)) this.#init.onBytes(bytes)
  }

  #goOnLater(): void {
    if (this.#isDue || this.#isPaused) return
    this.#isDue = true
    this.#init.budget.later(LANE, () => this.#goOn(), this.#init.key)
  }

  #goOn(): void {
    const { budget, source, onBytes } = this.#init
    this.#isDue = false
    while (!this.#isPaused) {
      const bytes = this.#waiting.shift()
      if (bytes === undefined) return void source.resume()
      onBytes(bytes)
      if (!budget.isTimeLeft(LANE)) return this.#goOnLater()
    }
  }
}

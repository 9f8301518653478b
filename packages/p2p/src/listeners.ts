/** Those who are told of one kind of event. One function may be added several times. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #all = new Set<(...told: Told) => void>()

  /** Adds a listener; the returned function takes it away. */
  readonly add = (listener: (...told: Told) => void): (() => void) => {
    const own = (...told: Told) => listener(...told)
    this.#all.add(own)
    return () => this.#all.delete(own)
  }

  readonly tell = (...told: Told): void => {
    for (const listener of this.#all) listener(...told)
  }

  clear(): void {
    this.#all.clear()
  }
}

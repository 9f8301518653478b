/**
 * How many of something there are now, by key and in all, for bounds such as connections by address. A key of which
 * none is left takes no memory.
 */
export class KeyedCounts<K> {
  readonly #counts = new Map<K, number>()
  #total = 0

  /** The number of all keys together. */
  get total(): number {
    return this.#total
  }

  /** The number of keys of which there are some. */
  get size(): number {
    return this.#counts.size
  }

  /** The number of one key. */
  of(key: K): number {
    return this.#counts.get(key) ?? 0
  }

  /** The keys of which there are some, each with its number, in the order in which they came. */
  entries(): Iterable<[K, number]> {
    return this.#counts.entries()
  }

  /** Adds one; gives the number of the key afterwards. */
  add(key: K): number {
    const count = this.of(key) + 1
    this.#counts.set(key, count)
    this.#total++
    return count
  }

  /** Takes one away; nothing happens where there is none. */
  remove(key: K): void {
    const count = this.of(key)
    if (count === 0) return
    this.#total--
    if (count === 1) this.#counts.delete(key)
    else this.#counts.set(key, count - 1)
  }
}

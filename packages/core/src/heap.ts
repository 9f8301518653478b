/** A binary heap: what comes first by the given order is taken first, at the cost of a few comparisons. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean
  readonly #items: T[]

  /**
   * @param isBefore does `a` come before `b`?
   * @param items what the heap holds at first; the array becomes the heap's own
   */
  constructor(isBefore: (a: T, b: T) => boolean, items: T[] = []) {
    this.#isBefore = isBefore
    this.#items = items
    for (let at = (items.length >> 1) - 1; at >= 0; at--) this.#sink(at)
  }

  get size(): number {
    return this.#items.length
  }

  /** The first one, which stays. */
  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = this.#items[above] as T
      if (!this.#isBefore(item, parent)) break
      this.#items[at] = parent
      at = above
    }
    this.#items[at] = item
  }

  /** Takes the first one away. */
  pop(): T | undefined {
    const first = this.#items[0]
    const last = this.#items.pop()
    if (last === undefined || this.#items.length === 0) return first
    this.#items[0] = last
    this.#sink(0)
    return first
  }

  #sink(start: number): void {
    const items = this.#items
    const item = items[start] as T
    let at = start
    for (;;) {
      const left = 2 * at + 1
      if (left >= items.length) break
      const right = left + 1
      const next = right < items.length && this.#isBefore(items[right] as T, items[left] as T) ? right : left
      const child = items[next] as T
      if (!this.#isBefore(child, item)) break
      items[at] = child
      at = next
    }
    items[at] = item
  }
}

export interface RingBounds<Item> {
  /** The number of items that are kept at most. */
  readonly maxItems: number
  /** The greatest number of what `sizeOf` counts, such as bytes, that is kept. */
  readonly maxSize: number
  /** Gives the same for an item as long as it is kept. */
  readonly sizeOf: (item: Item) => number
}

/**
 * The last items, numbered from 1, bounded in number and in size. The oldest item is dropped first. The newest item stays
 * even if it is too large alone.
 */
export class BoundedRing<Item> {
  /** The kept items, the oldest first. */
  readonly items: Item[] = []
  readonly #bounds: RingBounds<Item>
  #size = 0
  /** Number of the oldest item that is kept. */
  first = 1

  constructor(bounds: RingBounds<Item>) {
    this.#bounds = bounds
  }

  /** Number of the newest item; 0 before the first. */
  get last(): number {
    return this.first + this.items.length - 1
  }

  /** Gives the item with the number, counted from 1; undefined when it is not kept. */
  at(number: number): Item | undefined {
    return this.items[number - this.first]
  }

  push(item: Item): void {
    const { maxItems, maxSize, sizeOf } = this.#bounds
    this.items.push(item)
    this.#size += sizeOf(item)
    while (this.items.length > maxItems || (this.#size > maxSize && this.items.length > 1)) {
      this.#drop(this.items.shift())
      this.first++
    }
  }

  /** Takes the newest item out; the next one gets its number. */
  pop(): Item | undefined {
    return this.#drop(this.items.pop())
  }

  #drop(item: Item | undefined): Item | undefined {
    if (item !== undefined) this.#size -= this.#bounds.sizeOf(item)
    return item
  }
}

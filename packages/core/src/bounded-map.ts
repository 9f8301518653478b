/**
 * A map that holds at most `most` keys. A key that is set becomes the newest, whether it was there or not; when there
 * are too many, the one that was set longest ago is forgotten. Iterates from the oldest to the newest, as maps do.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number

  /** @param most how many keys it holds */
  constructor(most: number) {
    super()
    this.#most = most
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#most) this.#forgetOldest()
    return this
  }

  #forgetOldest(): void {
    const oldest = this.keys().next()
    if (oldest.done !== true) this.delete(oldest.value)
  }
}

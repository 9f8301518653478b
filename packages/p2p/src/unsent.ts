/** How many bytes wait to go out on all byte streams of a node, whatever carries them; counted up and down in place. */
export interface Unsent {
  bytes: number
}

/** The part of these bytes that is one stream's, or one connection's. */
export class UnsentPart {
  readonly #all: Unsent
  #bytes = 0

  constructor(all: Unsent) {
    this.#all = all
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The bytes that wait elsewhere. */
  get others(): number {
    return this.#all.bytes - this.#bytes
  }

  /** Has the holder count for so many bytes from now on. */
  set(bytes: number): void {
    this.#all.bytes += bytes - this.#bytes
    this.#bytes = bytes
  }
}

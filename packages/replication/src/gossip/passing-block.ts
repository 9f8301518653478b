/** A block that is inflated piece by piece: what passes to the ledger, and what is told about it afterwards. */
import { type BlockForm, blockFormOf, FORM_BYTES } from './block-form.ts'

export class PassingBlock implements AsyncIterable<Uint8Array> {
  readonly #pieces: AsyncIterator<Uint8Array>
  #first: Uint8Array = new Uint8Array()
  #last: Uint8Array = new Uint8Array()
  #hasFailed = false

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** True when the block turned out to be no gzip, or to inflate to something else than it says. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** The form of what has passed. */
  get form(): BlockForm {
    return blockFormOf(this.#first, this.#last)
  }

  /** Gives the pieces that have not passed yet. Whoever takes no more leaves the others for `drain`. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() }
  }

  /** Lets the rest pass, which nobody wants: only at its end it shows what form the block has, and whether it is a gzip. */
  async drain(): Promise<void> {
    while ((await this.#next()).done !== true);
  }

  /** Ends inflating; must be called. */
  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const next = await this.#pieces.next()
      if (next.done !== true) this.#note(next.value)
      return next
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  #note(piece: Uint8Array): void {
    if (this.#first.length < FORM_BYTES) this.#first = join(this.#first, piece.subarray(0, FORM_BYTES))
    this.#last = join(this.#last, piece.subarray(-FORM_BYTES)).subarray(-FORM_BYTES)
  }
}

/** A copy: a view would keep all of a piece in memory. */
function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length)
  joined.set(first)
  joined.set(second, first.length)
  return joined
}

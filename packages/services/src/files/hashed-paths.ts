import { hash } from 'node:crypto'
import { encodePath } from './path-bytes.ts'

/** How many words of a path's hash are kept: no two paths of a share have the same by chance. */
const WORDS = 2
/** How many paths there is room for at first; a power of two. */
const FIRST_SLOTS = 256

/**
 * A set of paths that keeps a hash of each, in 11 to 22 bytes outside of the heap. So a list of 200,000 long paths is not held
 * twice. A sender that makes two paths with one hash has its own list refused.
 */
export class HashedPaths {
  /** Slots of `WORDS` each, at most three quarters of them in use; an empty one is 0. */
  #slots = new Uint32Array(FIRST_SLOTS * WORDS)
  #size = 0

  /** False: it is there already. */
  add(path: string): boolean {
    const [low, high] = wordsOf(path)
    const at = this.#find(low, high)
    if (this.#slots[at + 1] !== 0) return false
    this.#set(at, low, high)
    this.#size++
    if (this.#size * 4 > (this.#slots.length / WORDS) * 3) this.#grow()
    return true
  }

  has(path: string): boolean {
    return this.#slots[this.#find(...wordsOf(path)) + 1] !== 0
  }

  /** Where the words stand, or would: behind the slot that their first one names, the next one that is theirs or empty. */
  #find(low: number, high: number): number {
    const mask = this.#slots.length - 1
    let at = (low * WORDS) & mask
    while (this.#slots[at + 1] !== 0 && !(this.#slots[at] === low && this.#slots[at + 1] === high))
      at = (at + WORDS) & mask
    return at
  }

  #set(at: number, low: number, high: number): void {
    this.#slots[at] = low
    this.#slots[at + 1] = high
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(before.length * 2)
    for (let at = 0; at < before.length; at += WORDS) {
      const [low = 0, high = 0] = before.subarray(at, at + WORDS)
      if (high !== 0) this.#set(this.#find(low, high), low, high)
    }
  }
}

/** Two words of a path's hash, of which the second is not 0. */
function wordsOf(path: string): readonly [number, number] {
  const bytes = hash('sha256', path.isWellFormed() ? path : encodePath(path), 'buffer')
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4) || 1]
}

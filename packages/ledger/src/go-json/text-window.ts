/** A window on a text that comes in pieces: the part of it that is in memory. */
import { TEXT_WINDOW_BYTES } from '../limits.ts'

export class TextWindow {
  #buffer = new Uint8Array(TEXT_WINDOW_BYTES)
  #start = 0
  #end = 0

  /**
   * Drops the first `read` bytes and copies a piece behind what is left. What an earlier call gave is then written over.
   *
   * @returns all that is there
   */
  append(piece: Uint8Array, read: number): Uint8Array {
    this.#start += read
    if (this.#end + piece.length > this.#buffer.length) this.#moveToStart(piece.length)
    this.#buffer.set(piece, this.#end)
    this.#end += piece.length
    return this.#buffer.subarray(this.#start, this.#end)
  }

  /** Makes room for a piece; a longer one than is usual has a larger buffer. */
  #moveToStart(pieceBytes: number): void {
    const left = this.#buffer.subarray(this.#start, this.#end)
    const bytes = left.length + pieceBytes
    if (bytes > this.#buffer.length) this.#buffer = new Uint8Array(bytes)
    this.#buffer.set(left)
    this.#start = 0
    this.#end = left.length
  }
}

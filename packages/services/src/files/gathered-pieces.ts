/** Bytes of a file as they came, until they are written with one call. */
import { SHORT_PIECE_BYTES } from './limits.ts'

/** How long the blocks are into which short pieces are copied, in bytes. */
const BLOCK_BYTES = 4_096

export class GatheredPieces {
  #pieces: Uint8Array[] = []
  #byteLength = 0
  #block: Buffer | undefined
  #used = 0

  get byteLength(): number {
    return this.#byteLength
  }

  /** Keeps the bytes, or copies them. */
  add(bytes: Uint8Array): void {
    this.#byteLength += bytes.byteLength
    if (bytes.byteLength < SHORT_PIECE_BYTES) return this.#copy(bytes)
    this.#endBlock()
    this.#pieces.push(bytes)
  }

  /** All so far, in order, which are not kept any more. */
  take(): readonly Uint8Array[] {
    this.#endBlock()
    const pieces = this.#pieces
    this.#pieces = []
    this.#byteLength = 0
    return pieces
  }

  #copy(bytes: Uint8Array): void {
    if (this.#used + bytes.byteLength > BLOCK_BYTES) this.#endBlock()
    this.#block ??= Buffer.allocUnsafe(BLOCK_BYTES)
    this.#block.set(bytes, this.#used)
    this.#used += bytes.byteLength
  }

  #endBlock(): void {
    if (this.#block !== undefined) this.#pieces.push(this.#block.subarray(0, this.#used))
    this.#block = undefined
    this.#used = 0
  }
}

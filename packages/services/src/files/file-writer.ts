/**
 * The bytes of one file on their way to the disk: gathered into large blocks, hashed as they came, one block written at a
 * time while the next is gathered. A sender that is faster than the disk is made to wait. Runs of zeros are not written:
 * they stay holes of the file, or become them.
 */
import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { BLOCKS_PER_CALL, FILE_BLOCK_BYTES } from './limits.ts'

const WRITE_BYTES = BLOCKS_PER_CALL * FILE_BLOCK_BYTES
const ZEROS = new Uint8Array(FILE_BLOCK_BYTES)

export class FileWriter {
  readonly #file: FileHandle
  readonly #hash: Hash
  /** Bytes that are still to come, at the most. */
  #left: number
  #at: number
  /** Where the bytes on the disk end: there is nothing behind it. */
  #written: number
  #block: Buffer
  #used = 0
  #writing: Promise<void> = Promise.resolve()

  /** @param hash of the first `offset` bytes, which the file holds @param size the bytes of the whole file */
  constructor(
    file: FileHandle,
    { offset, size }: { readonly offset: number; readonly size: number },
    hash: Hash,
  ) {
    this.#file = file
    this.#at = offset
    this.#written = offset
    this.#left = size - offset
    this.#hash = hash
    this.#block = this.#newBlock()
  }

  /** Bytes of the file so far, those on their way included. */
  get size(): number {
    return this.#at + this.#used
  }

  /** Copies the bytes, no more than are still to come. Wait for it before more is added. */
  async add(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
    for (let rest = bytes; rest.byteLength > 0; ) {
      const some = rest.subarray(0, this.#block.byteLength - this.#used)
      this.#block.set(some, this.#used)
      this.#used += some.byteLength
      rest = rest.subarray(some.byteLength)
      if (this.#used === this.#block.byteLength) await this.#flush()
    }
  }

  /** Writes all that came. @returns SHA-256 of the whole file, 32 bytes */
  async end(): Promise<Uint8Array> {
    await this.#flush()
    await this.#writing
    // zeros at the end were not written
    if (this.#at > this.#written) await this.#file.truncate(this.#at)
    return this.#hash.digest()
  }

  async #flush(): Promise<void> {
    await this.#writing
    const [block, at] = [this.#block.subarray(0, this.#used), this.#at]
    this.#at += this.#used
    this.#left -= this.#used
    this.#used = 0
    this.#block = this.#newBlock()
    this.#writing = this.#writeRuns(block, at)
    // told by the next flush
    this.#writing.catch(() => {})
  }

  #newBlock(): Buffer {
    return Buffer.allocUnsafe(Math.min(WRITE_BYTES, Math.max(1, this.#left)))
  }

  /** Writes what stands between pieces of zeros with one call each. */
  async #writeRuns(block: Buffer, position: number): Promise<void> {
    const pieceAt = (at: number) => block.subarray(at, at + FILE_BLOCK_BYTES)
    for (let at = 0; at < block.byteLength; at += FILE_BLOCK_BYTES) {
      const start = at
      while (at < block.byteLength && !isZero(pieceAt(at))) at += FILE_BLOCK_BYTES
      if (at === start) continue
      const run = block.subarray(start, at)
      await writeAll(this.#file, run, position + start)
      this.#written = position + start + run.byteLength
    }
  }
}

function isZero(piece: Uint8Array): boolean {
  return piece[0] === 0 && Buffer.compare(piece, ZEROS.subarray(0, piece.byteLength)) === 0
}

/** A disk that is nearly full may take a part only. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.byteLength - at, position + at)
    at += bytesWritten
  }
}

/**
 * The bytes of one file on their way to the disk: gathered into large writes, hashed as they came, one write at a
 * time while the next is gathered. Whoever adds faster than the disk takes is made to wait.
 */
import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { GatheredPieces } from './gathered-pieces.ts'
import { BLOCKS_PER_CALL, FILE_BLOCK_BYTES } from './limits.ts'

const WRITE_BYTES = BLOCKS_PER_CALL * FILE_BLOCK_BYTES

export class FileWriter {
  readonly #file: FileHandle
  readonly #hash: Hash
  #at: number
  readonly #gathered = new GatheredPieces()
  #writing: Promise<void> = Promise.resolve()

  /** @param hash of the first `offset` bytes, which the file holds */
  constructor(file: FileHandle, offset: number, hash: Hash) {
    this.#file = file
    this.#at = offset
    this.#hash = hash
  }

  /** Bytes of the file so far, those on their way included. */
  get size(): number {
    return this.#at + this.#gathered.byteLength
  }

  /** Keeps the bytes until they are written, or copies them. @returns a promise to wait for before more is added, if any */
  add(bytes: Uint8Array): Promise<void> | undefined {
    this.#hash.update(bytes)
    this.#gathered.add(bytes)
    return this.#gathered.byteLength < WRITE_BYTES ? undefined : this.#flush()
  }

  /** Writes all that came. @returns SHA-256 of the whole file, 32 bytes */
  async end(): Promise<Uint8Array> {
    await this.#flush()
    await this.#writing
    return this.#hash.digest()
  }

  async #flush(): Promise<void> {
    await this.#writing
    if (this.#gathered.byteLength === 0) return
    const at = this.#at
    this.#at += this.#gathered.byteLength
    const pieces = this.#gathered.take()
    this.#writing = writeAll(this.#file, pieces, at)
    // told by the next flush
    this.#writing.catch(() => {})
  }
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<void> {
  let at = position
  let rest = pieces
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, at)
    at += bytesWritten
    rest = withoutFirst(rest, bytesWritten)
  }
}

/** A disk that is nearly full may take a part only. */
function withoutFirst(pieces: readonly Uint8Array[], byteCount: number): Uint8Array[] {
  let skip = byteCount
  const rest: Uint8Array[] = []
  for (const piece of pieces) {
    if (skip >= piece.byteLength) skip -= piece.byteLength
    else {
      rest.push(skip === 0 ? piece : piece.subarray(skip))
      skip = 0
    }
  }
  return rest
}

/**
 * The bytes of one file on their way to the disk: gathered into large writes, hashed as they came, one write at a
 * time while the next is gathered. A sender that is faster than the disk is made to wait. Runs of zeros are not written:
 * they stay holes of the file, or become them.
 */
import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { GatheredPieces } from './gathered-pieces.ts'
import { BLOCKS_PER_CALL, FILE_BLOCK_BYTES, MAX_FILE_MESSAGE_BYTES } from './limits.ts'

const WRITE_BYTES = BLOCKS_PER_CALL * FILE_BLOCK_BYTES

export class FileWriter {
  readonly #file: FileHandle
  readonly #hash: Hash
  #at: number
  /** Where the bytes on the disk end: there is nothing behind it. */
  #written: number
  readonly #gathered = new GatheredPieces()
  #writing: Promise<void> = Promise.resolve()

  /** @param hash of the first `offset` bytes, which the file holds */
  constructor(file: FileHandle, offset: number, hash: Hash) {
    this.#file = file
    this.#at = offset
    this.#written = offset
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
    // zeros at the end were not written
    if (this.#at > this.#written) await this.#file.truncate(this.#at)
    return this.#hash.digest()
  }

  async #flush(): Promise<void> {
    await this.#writing
    if (this.#gathered.byteLength === 0) return
    const at = this.#at
    this.#at += this.#gathered.byteLength
    const pieces = this.#gathered.take()
    this.#writing = this.#writeRuns(pieces, at)
    // told by the next flush
    this.#writing.catch(() => {})
  }

  /** Writes what stands between pieces of zeros with one call each. */
  async #writeRuns(pieces: readonly Uint8Array[], position: number): Promise<void> {
    let [at, run] = [position, [] as Uint8Array[]]
    const writeRun = async () => {
      if (run.length === 0) return
      const start = at - run.reduce((sum, { byteLength }) => sum + byteLength, 0)
      await writeAll(this.#file, run, start)
      this.#written = at
      run = []
    }
    for (const piece of pieces) {
      if (isZero(piece)) await writeRun()
      else run.push(piece)
      at += piece.byteLength
    }
    await writeRun()
  }
}

function isZero(piece: Uint8Array): boolean {
  return piece[0] === 0 && Buffer.compare(piece, ZEROS.subarray(0, piece.byteLength)) === 0
}

/** Zeros for the longest piece, which is one message. */
const ZEROS = new Uint8Array(MAX_FILE_MESSAGE_BYTES)

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

/**
 * The entries of a list that came from another member, held in few bytes and outside of the heap. Objects would take 1.4 times
 * as many (paths of 150 bytes) to 2.5 times (of 20).
 */
import type { ManifestEntries, ManifestEntry } from './manifest.ts'
import { PACKED_ENTRY_BYTES } from './limits.ts'
import { decodePath, encodePath } from './path-bytes.ts'

/**
 * Length of the blocks that hold entries one behind the other, in bytes. The system gets blocks of this length back at once, and
 * they stand apart from short-lived memory.
 */
const BLOCK_BYTES = 256 * 1024
/** How long the first block is, in bytes: most lists are short. */
const FIRST_BLOCK_BYTES = 16 * 1024
const [IS_FOLDER, IS_EXECUTABLE] = [1, 2]
/** Where in an entry each field stands: flags, size, time, the length of the path, and the path in its bytes. */
const [SIZE_AT, TIME_AT, LENGTH_AT, PATH_AT] = [1, 9, 17, PACKED_ENTRY_BYTES]

export class PackedEntries implements ManifestEntries {
  readonly #blocks: Buffer[] = []
  /** Where each entry begins, counted over all blocks. */
  readonly #places: number[] = []
  /** Bytes of the last block that are used, and that are not. */
  #used = 0
  #free = 0

  get length(): number {
    return this.#places.length
  }

  /** @param entry with a path that a manifest may have */
  add({ path, isFolder, size, modifiedMs, isExecutable }: ManifestEntry): void {
    const bytes = encodePath(path)
    const pathBytes = bytes.byteLength
    if (PATH_AT + pathBytes > this.#free) this.#addBlock()
    const at = this.#used
    const block = this.#blocks.at(-1) as Buffer
    block[at] = (isFolder ? IS_FOLDER : 0) | (isExecutable ? IS_EXECUTABLE : 0)
    block.writeDoubleLE(size, at + SIZE_AT)
    block.writeDoubleLE(modifiedMs, at + TIME_AT)
    block.set(bytes, at + PATH_AT)
    block.writeUInt16LE(pathBytes, at + LENGTH_AT)
    this.#used += PATH_AT + pathBytes
    this.#free -= PATH_AT + pathBytes
    this.#places.push((this.#blocks.length - 1) * BLOCK_BYTES + at)
  }

  #addBlock(): void {
    this.#free = this.#blocks.length === 0 ? FIRST_BLOCK_BYTES : BLOCK_BYTES
    this.#used = 0
    this.#blocks.push(Buffer.allocUnsafeSlow(this.#free))
  }

  at(index: number): ManifestEntry | undefined {
    const place = this.#places[index]
    if (place === undefined) return undefined
    const block = this.#blocks[Math.floor(place / BLOCK_BYTES)] as Buffer
    const at = place % BLOCK_BYTES
    const flags = block[at] as number
    const pathAt = at + PATH_AT
    return {
      path: decodePath(block.subarray(pathAt, pathAt + block.readUInt16LE(at + LENGTH_AT))),
      isFolder: (flags & IS_FOLDER) !== 0,
      size: block.readDoubleLE(at + SIZE_AT),
      modifiedMs: block.readDoubleLE(at + TIME_AT),
      isExecutable: (flags & IS_EXECUTABLE) !== 0,
    }
  }

  *[Symbol.iterator](): Generator<ManifestEntry> {
    for (let index = 0; index < this.length; index++) yield this.at(index) as ManifestEntry
  }
}

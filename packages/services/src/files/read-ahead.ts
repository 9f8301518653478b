/**
 * Reads small files of a share before the receiver asks for them. A receiver asks in the order of the manifest. One file takes
 * five system calls, each of which waits for a thread.
 */
import { type FileBlock, readBlocks } from './block-file.ts'
import { FILE_BLOCK_BYTES, FILES_READ_AHEAD } from './limits.ts'
import type { ManifestEntry } from './manifest.ts'
import { isUnchanged, openShared, pathOf, type Scan } from './scan.ts'

/** The blocks of a whole file. */
export type WholeFile = readonly FileBlock[]

export class ReadAhead {
  readonly #scan: Scan
  readonly #load: { readonly blocksPerCall: number }
  readonly #reading = new Map<number, Promise<WholeFile | undefined>>()

  constructor(scan: Scan, load: { readonly blocksPerCall: number }) {
    this.#scan = scan
    this.#load = load
  }

  /**
   * Gives the file of this index, and begins to read those behind it. Undefined: it was not read ahead, or cannot be
   * read, or is not any more what the manifest says. Never rejects.
   */
  take(index: number): Promise<WholeFile | undefined> | undefined {
    const { entries } = this.#scan
    const found = this.#reading.get(index)
    // another order than was thought
    if (found === undefined && isSmall(entries[index])) this.#reading.clear()
    this.#reading.delete(index)
    const count = Math.min(FILES_READ_AHEAD, this.#load.blocksPerCall)
    for (let at = index + 1; at <= index + count; at++) {
      const entry = entries[at]
      if (entry === undefined) break
      if (isSmall(entry) && !this.#reading.has(at)) this.#reading.set(at, readWhole(this.#scan, entry))
    }
    return found
  }
}

function isSmall(entry: ManifestEntry | undefined): boolean {
  return entry !== undefined && !entry.isFolder && entry.size <= FILE_BLOCK_BYTES
}

async function readWhole(scan: Scan, entry: ManifestEntry): Promise<WholeFile | undefined> {
  try {
    const file = await openShared(pathOf(scan, entry))
    try {
      const read: FileBlock[] = []
      for await (const blocks of readBlocks(file, { offset: 0, end: entry.size })) read.push(...blocks)
      return isUnchanged(await file.stat(), entry) ? read : undefined
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

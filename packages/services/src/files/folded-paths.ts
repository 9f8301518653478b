import { hash } from 'node:crypto'

/** Bytes of a path's hash that are kept: no two paths of a share have the same by chance, and none can be made to. */
const KEPT_BYTES = 16

/**
 * Paths in the form that file systems without case hold for one, of which two must not be in one share. Keeps a hash of
 * each: what a list of 200,000 long paths takes is not held twice.
 */
export class FoldedPaths {
  readonly #hashes = new Set<string>()

  /** False: one that is written alike is there already. */
  add(path: string): boolean {
    const folded = path.normalize('NFC').toLowerCase()
    const kept = hash('sha256', folded, 'buffer').toString('latin1', 0, KEPT_BYTES)
    const { size } = this.#hashes
    return this.#hashes.add(kept).size > size
  }
}

import { HashedPaths } from './hashed-paths.ts'

/** Paths in the form that file systems without case hold for one, of which two must not be in one share. */
export class FoldedPaths {
  readonly #paths = new HashedPaths()

  /** False: one that is written alike is there already. */
  add(path: string): boolean {
    return this.#paths.add(path.normalize('NFC').toLowerCase())
  }
}

/** Cuts a list to the names that every common file system can have: older receivers take no others. */
import { HashedPaths } from './hashed-paths.ts'
import { LeftOutList } from './left-out.ts'
import { checkPortableName, folderOf, type ManifestEntry, nameOf } from './manifest.ts'
import type { Scan } from './scan.ts'

/** Resolves with the entries that an older receiver takes, in turns of the event loop. */
export async function portablePart(scan: Scan, turn: () => Promise<void> | undefined): Promise<Scan> {
  const entries: ManifestEntry[] = []
  const leftOut = new LeftOutList()
  leftOut.addAll(scan.leftOut)
  const kept = new FoldedPaths()
  for (const entry of scan.entries) {
    await turn()
    const { path } = entry
    const wrong = kept.has(folderOf(path)) ? checkPortableName(nameOf(path)) : 'its folder is left out'
    if (wrong === undefined && kept.add(path)) entries.push(entry)
    else leftOut.add(path, wrong ?? 'another name differs by case only')
  }
  return { ...scan, entries, leftOut }
}

/** Paths in the form that file systems without case hold for one. */
class FoldedPaths {
  readonly #folded = new HashedPaths()
  readonly #exact = new HashedPaths()

  has(path: string): boolean {
    return path === '' || this.#exact.has(path)
  }

  add(path: string): boolean {
    return this.#folded.add(path.normalize('NFC').toLowerCase()) && this.#exact.add(path)
  }
}

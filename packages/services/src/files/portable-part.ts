/** Cuts a list to the names that every common file system can have: older receivers take no others. */
import { LeftOutList } from './left-out.ts'
import { checkPortableName, folderOf, type ManifestEntry, nameOf } from './manifest.ts'
import type { Scan } from './scan.ts'

/** Resolves with the entries that an older receiver takes, in turns of the event loop. */
export async function portablePart(scan: Scan, turn: () => Promise<void> | undefined): Promise<Scan> {
  const entries: ManifestEntry[] = []
  const leftOut = new LeftOutList()
  leftOut.addAll(scan.leftOut)
  const kept = new Set([''])
  /** The paths in the form that file systems without case hold for one. */
  const folded = new Set<string>()
  for (const entry of scan.entries) {
    await turn()
    const { path } = entry
    const fold = path.normalize('NFC').toLowerCase()
    const wrong = !kept.has(folderOf(path))
      ? 'its folder is left out'
      : (checkPortableName(nameOf(path)) ??
        (folded.has(fold) ? 'another name differs by case only' : undefined))
    if (wrong !== undefined) {
      leftOut.add(path, wrong)
      continue
    }
    kept.add(path)
    folded.add(fold)
    entries.push(entry)
  }
  return { ...scan, entries, leftOut }
}

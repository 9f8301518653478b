/**
 * `mkdir -p` in as many steps as the path has parts. Node's own recursive mkdir never returns where a file system
 * answers ENOENT for a folder whose parent is there, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Folders that are there keep their mode; those that are made are for this user alone. @throws the system's error */
export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let folder = path; !isFolder(folder) && dirname(folder) !== folder; folder = dirname(folder)) {
    missing.push(folder)
  }
  for (const folder of missing.toReversed()) makeOne(folder)
}

/** Another process may make it at the same time. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Lists what is offered. Symbolic links and special files inside a folder are left out, so that nothing else leaks. */
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises'
import { constants, type Stats } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { filesError } from './errors.ts'
import { MAX_MANIFEST_ENTRIES, STATS_AT_A_TIME } from './limits.ts'
import { checkManifest, checkName, type Manifest, type ManifestEntry } from './manifest.ts'

export interface Scan extends Manifest {
  /** The real path of the file or folder. */
  readonly root: string
  /** Links, special files, and names that other systems cannot have. */
  readonly leftOut: number
}

const OWNER_MAY_RUN = 0o100

/** @throws MeshError `files.unreadable`, `files.too_many` */
export async function scanShare(path: string, signal: AbortSignal): Promise<Scan> {
  try {
    const root = await realpath(path)
    const stats = await lstat(root)
    const name = basename(root)
    if (stats.isFile()) return await scanFile(root, { name, stats })
    if (!stats.isDirectory()) throw filesError('files.unreadable', `${path} is neither a file nor a folder`)
    return await scanFolder(root, { name: name === '' ? 'root' : name, signal })
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    const reason = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read (${cause.code})`
    throw filesError('files.unreadable', `${path} ${reason}`, { cause })
  }
}

async function scanFile(root: string, { name, stats }: { name: string; stats: Stats }): Promise<Scan> {
  // whoever may list a folder may still not read what is in it
  await (await openShared(root)).close()
  const scan = { root, name, isFolder: false, entries: [entryOf(name, stats)], leftOut: 0 }
  const problem = checkManifest(scan)
  if (problem !== undefined) throw filesError('files.unreadable', `${root} cannot be shared: ${problem}`)
  return scan
}

async function scanFolder(
  root: string,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<Scan> {
  const entries: ManifestEntry[] = []
  /** The paths so far, in the form that names share which file systems without case hold for one. */
  const folded = new Set<string>()
  let leftOut = 0
  const folders = ['']
  // grows on the way
  for (const folder of folders) {
    signal.throwIfAborted()
    for (const { path, wrong, stats } of await readChildren(root, folder)) {
      const isKind = stats.isDirectory() || stats.isFile()
      const key = path.normalize('NFC').toLowerCase()
      if (!isKind || wrong !== undefined || folded.has(key)) {
        leftOut++
        continue
      }
      folded.add(key)
      entries.push(entryOf(path, stats))
      if (stats.isDirectory()) folders.push(path)
    }
    if (entries.length > MAX_MANIFEST_ENTRIES) {
      throw filesError('files.too_many', `${root} holds more than ${MAX_MANIFEST_ENTRIES} files`, {
        hint: 'Offer its parts under names of their own, or an archive of it.',
      })
    }
  }
  const scan = { root, name, isFolder: true, entries, leftOut }
  const problem = checkManifest(scan)
  if (problem !== undefined) throw filesError('files.unreadable', `${root} cannot be shared: ${problem}`)
  return scan
}

async function readChildren(root: string, folder: string) {
  const names = (await readdir(join(root, folder))).toSorted()
  const children: { path: string; wrong: string | undefined; stats: Stats }[] = []
  for (let at = 0; at < names.length; at += STATS_AT_A_TIME) {
    const some = names.slice(at, at + STATS_AT_A_TIME).map(async (child) => {
      const path = folder === '' ? child : `${folder}/${child}`
      return { path, wrong: checkName(child), stats: await lstat(join(root, path)) }
    })
    children.push(...(await Promise.all(some)))
  }
  return children
}

function entryOf(path: string, stats: Stats): ManifestEntry {
  const isFolder = stats.isDirectory()
  return {
    path,
    isFolder,
    size: isFolder ? 0 : stats.size,
    modifiedMs: Math.max(0, Math.floor(stats.mtimeMs)),
    isExecutable: !isFolder && (stats.mode & OWNER_MAY_RUN) !== 0,
  }
}

/** Where an entry lies on this machine's disk. */
export function pathOf({ root, isFolder }: Pick<Scan, 'root' | 'isFolder'>, { path }: ManifestEntry): string {
  return isFolder ? join(root, path.replaceAll('/', sep)) : root
}

/** Is the file still what the manifest says? */
export function isUnchanged(stats: Stats, { size, modifiedMs }: ManifestEntry): boolean {
  return stats.isFile() && stats.size === size && Math.max(0, Math.floor(stats.mtimeMs)) === modifiedMs
}

/**
 * Opens a file for reading, but no link that took its place or that of a folder above it, and nothing that would
 * block, as a pipe does.
 */
export async function openShared(path: string): Promise<FileHandle> {
  const real = await realpath(path)
  if (real !== path) throw filesError('files.unreadable', `${path} has become a link`)
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error
  )
}

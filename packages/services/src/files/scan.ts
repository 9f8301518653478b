/** Lists what is offered. Symbolic links and special files inside a folder are left out, so that nothing else leaks. */
import { type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises'
import { constants, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { filesError } from './errors.ts'
import { MAX_MANIFEST_ENTRIES, NAMES_AT_A_TIME, STATS_AT_A_TIME } from './limits.ts'
import { type LeftOut, LeftOutList, NOTHING_LEFT_OUT } from './left-out.ts'
import { type Manifest, ManifestCheck, type ManifestEntry } from './manifest.ts'
import { decodePath, placeIn } from './path-bytes.ts'

export interface Scan extends Manifest {
  readonly entries: readonly ManifestEntry[]
  /** The real path of the file or folder. */
  readonly root: string
  /** Links and special files. */
  readonly leftOut: LeftOut
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
    throw unreadable(path, cause)
  }
}

async function scanFile(root: string, { name, stats }: { name: string; stats: Stats }): Promise<Scan> {
  await (await openShared(root)).close()
  const entry = entryOf(name, stats)
  const scan = { root, name, isFolder: false, entries: [entry], leftOut: NOTHING_LEFT_OUT }
  const check = new ManifestCheck(scan)
  const problem = check.add(entry) ?? check.end()
  if (problem !== undefined) throw cannotBeShared(root, problem)
  return scan
}

async function scanFolder(
  root: string,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<Scan> {
  const entries: ManifestEntry[] = []
  const check = new ManifestCheck({ name, isFolder: true })
  const leftOut = new LeftOutList()
  const folders = ['']
  // grows on the way
  for (const folder of folders) {
    signal.throwIfAborted()
    for await (const children of readChildren(root, folder)) {
      for (const { path, stats } of children) {
        if (!stats.isDirectory() && !stats.isFile()) {
          leftOut.add(path, stats.isSymbolicLink() ? 'a link' : 'no regular file')
          continue
        }
        const entry = entryOf(path, stats)
        const problem = check.add(entry)
        if (entries.length === MAX_MANIFEST_ENTRIES) throw tooManyFiles(root)
        if (problem !== undefined) throw cannotBeShared(root, problem)
        entries.push(entry)
        if (entry.isFolder) folders.push(path)
      }
    }
  }
  const problem = check.end()
  if (problem !== undefined) throw cannotBeShared(root, problem)
  return { root, name, isFolder: true, entries, leftOut }
}

function cannotBeShared(root: string, problem: string) {
  return filesError('files.unreadable', `${root} cannot be shared: ${problem}`)
}

function tooManyFiles(root: string) {
  return filesError('files.too_many', `${root} holds more than ${MAX_MANIFEST_ENTRIES} files`, {
    hint: 'Offer its parts under names of their own, or an archive of it.',
  })
}

interface Child {
  readonly path: string
  readonly stats: Stats
}

/** Yields a few children at a time, in the order of their names, without those just removed: while the system is asked about the next ones other work comes between. */
async function* readChildren(root: string, folder: string): AsyncGenerator<readonly Child[]> {
  const names = (await readNames(root, folder)).toSorted()
  for (let at = 0; at < names.length; at += STATS_AT_A_TIME) {
    const some = names.slice(at, at + STATS_AT_A_TIME).map(async (child) => {
      const path = folder === '' ? child : `${folder}/${child}`
      const stats = await lstat(placeIn(root, path)).catch(undefinedIfGone)
      return stats === undefined ? [] : [{ path, stats }]
    })
    yield (await Promise.all(some)).flat()
  }
}

/** The names in a folder; none where it was removed since it was listed. */
async function readNames(root: string, folder: string): Promise<readonly string[]> {
  const names = readFolder(placeIn(root, folder))
  return folder === '' ? await names : ((await names.catch(undefinedIfGone)) ?? [])
}

/** Reads names a few at a time: all of a large folder at once would take all of a turn of the event loop. */
async function readFolder(path: string | Buffer): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(path, RAW_NAMES))
    names.push(decodePath(name as unknown as Buffer))
  return names
}

/** Node's types know no names as bytes here. */
const RAW_NAMES = { bufferSize: NAMES_AT_A_TIME, encoding: 'buffer' as BufferEncoding }

function undefinedIfGone(error: unknown): undefined {
  if (!isSystemError(error) || !GONE_CODES.has(error.code ?? '')) throw error
}

const GONE_CODES: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])

/**
 * Whoever may list a folder may still not read what is in it.
 * @throws MeshError `files.unreadable` with the path of the first one that this process may not read
 */
export async function requireReadable(scan: Scan, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < scan.entries.length; at += STATS_AT_A_TIME) {
    signal.throwIfAborted()
    const files = scan.entries.slice(at, at + STATS_AT_A_TIME).filter(({ isFolder }) => !isFolder)
    await Promise.all(files.map((entry) => checkReadable(pathOf(scan, entry))))
  }
}

/** Asks by opening: what a file server on the network allows is not known before. */
async function checkReadable(path: string | Buffer): Promise<void> {
  try {
    await (await open(path, READ_FLAGS)).close()
  } catch (error) {
    if (isForbidden(error)) throw unreadable(String(path), error)
    // what is gone since is left out of the next list
  }
}

/** True: this process may not read it, and will not until a person changes that. */
export function isForbidden(error: unknown): error is NodeJS.ErrnoException {
  return isSystemError(error) && (error.code === 'EACCES' || error.code === 'EPERM')
}

/** @param path as the person gave it */
function unreadable(path: string, cause: NodeJS.ErrnoException) {
  if (cause.code === 'ENOENT') {
    return filesError('files.unreadable', `${path} does not exist`, { cause })
  }
  // inside a folder the system's error says where
  return filesError('files.unreadable', `${cause.path ?? path} cannot be read (${cause.code})`, { cause })
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
export function pathOf(
  { root, isFolder }: Pick<Scan, 'root' | 'isFolder'>,
  { path }: ManifestEntry,
): string | Buffer {
  return isFolder ? placeIn(root, path) : root
}

/** Is the file still what the manifest says? */
export function isUnchanged(stats: Stats, { size, modifiedMs }: ManifestEntry): boolean {
  return stats.isFile() && stats.size === size && Math.max(0, Math.floor(stats.mtimeMs)) === modifiedMs
}

/**
 * Opens a file for reading, but no link that took its place or that of a folder above it, and nothing that would
 * block, as a pipe does.
 */
export async function openShared(path: string | Buffer): Promise<FileHandle> {
  const real = await realpath(path, 'buffer')
  if (!real.equals(Buffer.from(path))) throw filesError('files.unreadable', `${path} has become a link`)
  return open(path, READ_FLAGS)
}

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string' && 'syscall' in error
  )
}

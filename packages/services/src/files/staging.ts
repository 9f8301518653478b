/**
 * Where files are kept while they come: `DESTINATION.mesh-part/`, which holds the tree of the share. What stands there
 * whole has the size and time of its manifest entry; what is unfinished has another time. Only when all of it is whole
 * does the tree take the destination's name, so that nobody sees half a file. A tree that was left by an earlier try
 * is gone on with.
 */
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import type { DestinationLocks } from './destination-lock.ts'
import { filesError } from './errors.ts'
import { checkLocalName, type Manifest, type ManifestEntry } from './manifest.ts'
import { decodePath, placeIn } from './path-bytes.ts'
import { isSystemError } from './scan.ts'
import { findUnstorable, type Unstorable } from './storable-names.ts'

const PART_SUFFIX = '.mesh-part'
const FILE_MODE = 0o666
const EXECUTABLE_MODE = 0o777

/**
 * Where a share called `name` is to stand when a person gave `path`: inside it where it is a folder or ends with a
 * slash, else there. Absolute.
 *
 * @throws MeshError `files.destination` when the name cannot stand in a folder
 */
export async function resolveDestination(path: string, name: string): Promise<string> {
  const isInside = path.endsWith('/') || path.endsWith(sep) || (await leadsToFolder(path))
  if (!isInside) return resolve(path)
  const wrong = checkLocalName(name)
  if (wrong === undefined) return join(resolve(path), name)
  throw filesError('files.destination', `${JSON.stringify(name)} cannot stand in ${path}: ${wrong}`, {
    hint: 'Give the whole path of the file to write.',
  })
}

/** @throws MeshError `files.destination`, `files.no_space`, `files.locked` */
export async function openStaging(
  manifest: Manifest,
  { destination, locks }: { readonly destination: string; readonly locks: DestinationLocks },
): Promise<Staging> {
  await requireFree(destination, manifest)
  const part = `${destination}${PART_SUFFIX}`
  try {
    await makeFolders(dirname(destination))
    await makeFolder(part)
    const unlock = await locks.take(join(part, 'lock'))
    const tree = join(part, 'tree')
    try {
      const unstorable = await findUnstorable(manifest, part)
      requireFile(manifest, unstorable)
      await prepareTree(tree, manifest, unstorable)
      return createStaging(manifest, { destination, part, tree, unlock, unstorable })
    } catch (error) {
      await unlock()
      throw error
    }
  } catch (error) {
    throw describeWriteError(error, destination)
  }
}

function createStaging(
  manifest: Manifest,
  places: {
    readonly destination: string
    readonly part: string
    readonly tree: string
    readonly unlock: () => Promise<void>
    readonly unstorable: Unstorable
  },
) {
  const { destination, part, tree, unlock, unstorable } = places
  const placeOf = ({ path }: ManifestEntry) => placeIn(tree, path)
  return {
    /** Where the share stands in the end, absolute. */
    destination,
    /** The entries that it cannot hold. */
    leftOut: unstorable.leftOut,
    /** The file system here cannot hold the entry of this index. */
    isLeftOut: (index: number) => unstorable.indices.has(index),
    async isWhole(entry: ManifestEntry): Promise<boolean> {
      const stats = await lstat(placeOf(entry)).catch(() => undefined)
      return (
        stats?.isFile() === true &&
        stats.size === entry.size &&
        Math.floor(stats.mtimeMs) === entry.modifiedMs
      )
    },
    /**
     * Opens a file for reading and writing, made where it is missing; bytes beyond the entry's size are cut
     * off.
     */
    async open(entry: ManifestEntry): Promise<{ readonly file: FileHandle; readonly size: number }> {
      try {
        const file = await open(placeOf(entry), OPEN_FLAGS, entry.isExecutable ? EXECUTABLE_MODE : FILE_MODE)
        const { size } = await file.stat()
        if (size <= entry.size) return { file, size }
        await file.truncate(entry.size)
        return { file, size: entry.size }
      } catch (error) {
        throw describeWriteError(error, destination)
      }
    },
    /** Flushes the file to the disk, marks it whole and closes it. */
    async finish(entry: ManifestEntry, file: FileHandle): Promise<void> {
      try {
        await file.datasync()
        const seconds = entry.modifiedMs / 1_000
        await file.utimes(seconds, seconds)
      } catch (error) {
        throw describeWriteError(error, destination)
      } finally {
        await file.close()
      }
    },
    /** Gives the destination its name. @throws MeshError `files.destination` */
    async commit(): Promise<void> {
      const source = manifest.isFolder ? tree : placeIn(tree, manifest.entries.at(0)?.path ?? '')
      try {
        await requireFree(destination, manifest)
        await rename(source, destination)
        await syncFolder(dirname(destination))
        await rm(part, { recursive: true, force: true })
      } catch (error) {
        throw describeWriteError(error, destination)
      }
    },
    /** Lets another process go on; what came stays. */
    release: unlock,
  }
}

export type Staging = ReturnType<typeof createStaging>

/** The times of files must be kept to the millisecond, which a `Date` or seconds with a fraction carry. */
const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

/** @throws MeshError `files.no_space` */
export async function requireSpace(destination: string, missingBytes: number): Promise<void> {
  const disk = await statfs(dirname(destination)).catch(() => undefined)
  if (disk === undefined) return
  const free = disk.bavail * disk.bsize
  if (free >= missingBytes) return
  throw filesError(
    'files.no_space',
    `${missingBytes} bytes are to come, ${free} are free at ${destination}`,
    {
      hint: 'Make room, or choose another disk; what has come is kept.',
    },
  )
}

/** A file may take the place of a file, as with `cp`; a folder that of nothing. @throws MeshError `files.destination` */
export async function requireFree(
  destination: string,
  { isFolder: isFolderShare }: Pick<Manifest, 'isFolder'>,
): Promise<void> {
  const name = destination.slice(destination.lastIndexOf(sep) + 1)
  const wrong = checkLocalName(name)
  if (wrong !== undefined) throw filesError('files.destination', `cannot write to ${destination}: ${wrong}`)
  const stats = await lstat(destination).catch(() => undefined)
  if (stats === undefined || (stats.isFile() && !isFolderShare)) return
  const what = stats.isDirectory() ? 'a folder' : stats.isFile() ? 'a file' : 'no regular file'
  throw filesError('files.destination', `${destination} exists and is ${what}`, {
    hint: 'Give another destination, or move what is there away.',
  })
}

/** A file that is shared alone and cannot be stored is no share without it. @throws MeshError `files.destination` */
function requireFile({ isFolder, name }: Manifest, { leftOut }: Unstorable): void {
  if (isFolder || leftOut.count === 0) return
  throw filesError('files.destination', `${name} cannot be stored: ${leftOut.names[0] ?? ''}`, {
    hint: 'Receive it on another disk, or ask the sender to rename it.',
  })
}

/** Leaves what belongs to the share, makes its folders, and takes the rest away. */
async function prepareTree(tree: string, manifest: Manifest, { indices }: Unstorable): Promise<void> {
  await makeFolder(tree)
  const left = await readdir(tree)
  if (left.length > 0) {
    const kinds = new Map<string, boolean>()
    let index = 0
    for (const { path, isFolder } of manifest.entries) if (!indices.has(index++)) kinds.set(path, isFolder)
    await prune(tree, '', kinds)
  }
  let index = 0
  for (const { path, isFolder } of manifest.entries) {
    if (!indices.has(index++) && isFolder) await makeFolder(placeIn(tree, path))
  }
}

async function prune(tree: string, folder: string, kinds: ReadonlyMap<string, boolean>): Promise<void> {
  const children = await readdir(placeIn(tree, folder), { withFileTypes: true, encoding: 'buffer' })
  for (const child of children) {
    const name = decodePath(child.name)
    const path = folder === '' ? name : `${folder}/${name}`
    const kind = kinds.get(path)
    const isSame = kind !== undefined && (kind ? child.isDirectory() : child.isFile())
    if (!isSame) await rm(placeIn(tree, path), { recursive: true, force: true })
    else if (kind) await prune(tree, path, kinds)
  }
}

/** Node's own recursive `mkdir` never ends below a folder that takes no new ones, as /proc. */
async function makeFolders(path: string): Promise<void> {
  const there = await stat(path).catch(() => undefined)
  if (there?.isDirectory() === true) return
  const parent = dirname(path)
  if (there === undefined && parent !== path) await makeFolders(parent)
  await makeFolder(path)
}

async function makeFolder(path: string | Buffer): Promise<void> {
  await mkdir(path).catch(async (error: unknown) => {
    if (!isSystemError(error) || error.code !== 'EEXIST' || !(await isFolder(path))) throw error
  })
}

/** Is it a folder, or a link to one? */
async function leadsToFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

async function isFolder(path: string | Buffer): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

/** Syncs a folder, so that the new name outlives a loss of power. Not every file system can. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => {})
  await folder?.close()
}

function describeWriteError(error: unknown, destination: string): unknown {
  if (!isSystemError(error)) return error
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return filesError('files.no_space', `no room is left at ${destination}`, {
      cause: error,
      hint: 'Make room and start again: what has come is kept.',
    })
  }
  return filesError('files.destination', `cannot write to ${destination}: ${error.code}`, {
    cause: error,
    hint: 'Check that the folder can be written, or give another destination.',
  })
}

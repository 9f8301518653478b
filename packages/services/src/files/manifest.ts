/**
 * A list of what is shared: every file and folder by its path relative to the share. A receiver takes only
 * paths that stay inside the folder it makes: `checkPath` says what is wrong with any other.
 */
import { setImmediate } from 'node:timers/promises'
import {
  CHECKED_AT_A_TIME,
  MAX_MANIFEST_BYTES,
  MAX_MANIFEST_ENTRIES,
  MAX_NAME_BYTES,
  MAX_PATH_BYTES,
} from './limits.ts'

export interface ManifestEntry {
  /** Names joined by `/`; for a share that is a single file, its name. */
  readonly path: string
  readonly isFolder: boolean
  /** Bytes; 0 for a folder. */
  readonly size: number
  /** Unix time of the last change, in ms. */
  readonly modifiedMs: number
  /** May its owner run it? Other permissions do not travel. */
  readonly isExecutable: boolean
}

export interface Manifest {
  /** The base name of what is shared. */
  readonly name: string
  /** False for a single file, which is the only entry then. */
  readonly isFolder: boolean
  /** Folders before what is inside them. */
  readonly entries: readonly ManifestEntry[]
}

/** Bytes of all files together. */
export function totalBytes({ entries }: Pick<Manifest, 'entries'>): number {
  return entries.reduce((sum, { size }) => sum + size, 0)
}

/** Names that Windows keeps for devices, whatever their ending. */
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
const CONTROL_CHARACTER = /\p{Cc}/u

/**
 * Says what is wrong with one name of a path; undefined when every common file system can take it as it is.
 */
export function checkName(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'a name is empty, . or ..'
  if (/[/\\]/.test(name)) return 'a name holds a slash'
  if (CONTROL_CHARACTER.test(name)) return 'a name holds a control character'
  if (!name.isWellFormed()) return 'a name is no Unicode text'
  if (DEVICE_NAME.test(name)) return 'a name belongs to a device'
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name is longer than ${MAX_NAME_BYTES} bytes`
  return undefined
}

/** Says what is wrong with a path of a manifest; undefined when it stays inside the share. */
function checkPath(path: string): string | undefined {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `a path is longer than ${MAX_PATH_BYTES} bytes`
  for (const name of path.split('/')) {
    const problem = checkName(name)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Says what is wrong with a manifest that another member sent; undefined when it can be received. */
export async function checkManifest({ name, isFolder, entries }: Manifest): Promise<string | undefined> {
  const problem = checkName(name)
  if (problem !== undefined) return problem
  if (entries.length > MAX_MANIFEST_ENTRIES) return `more than ${MAX_MANIFEST_ENTRIES} files`
  if (!isFolder && (entries.length !== 1 || entries[0]?.isFolder === true)) return 'a file that is no file'
  const folders = new Set<string>([''])
  const paths = new Set<string>()
  let bytes = 0
  let textBytes = 0
  for (const [at, entry] of entries.entries()) {
    // other work comes between
    if (at % CHECKED_AT_A_TIME === CHECKED_AT_A_TIME - 1) await setImmediate()
    const wrong = checkEntry(entry, { isFolder, folders, paths })
    if (wrong !== undefined) return wrong
    bytes += entry.size
    textBytes += Buffer.byteLength(entry.path)
    if (bytes > Number.MAX_SAFE_INTEGER) return 'more bytes than can be counted'
    if (textBytes > MAX_MANIFEST_BYTES) return `paths of more than ${MAX_MANIFEST_BYTES} bytes`
  }
  return undefined
}

interface Seen {
  readonly isFolder: boolean
  readonly folders: Set<string>
  readonly paths: Set<string>
}

function checkEntry({ path, isFolder, size, modifiedMs }: ManifestEntry, seen: Seen): string | undefined {
  const wrong = checkPath(path)
  if (wrong !== undefined) return wrong
  if (!Number.isSafeInteger(size) || size < 0 || (isFolder && size > 0)) return 'a size that is none'
  if (!Number.isSafeInteger(modifiedMs)) return 'a time that is none'
  // file systems that know no case would write one over the other
  const folded = path.normalize('NFC').toLowerCase()
  if (seen.paths.has(folded)) return 'two files of one name'
  seen.paths.add(folded)
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  if (!seen.folders.has(parent)) return 'a file outside the folders of the share'
  if (isFolder) seen.folders.add(path)
  return undefined
}

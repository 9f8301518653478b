/**
 * A list of what is shared: every file and folder by its path relative to the share. A receiver takes only
 * paths that stay inside the folder it makes: `checkPath` says what is wrong with any other.
 */
import { sep } from 'node:path'
import { MAX_MANIFEST_BYTES, MAX_MANIFEST_ENTRIES, MAX_NAME_BYTES, MAX_PATH_BYTES } from './limits.ts'
import { pathByteLength } from './path-bytes.ts'

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
  return entries.reduce((bytes, { size }) => bytes + size, 0)
}

/** The path of the folder that an entry is in; empty at the top. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Names that Windows keeps for devices, whatever their ending. */
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
const CONTROL_CHARACTER = /\p{Cc}/u
/** Windows also drops a dot or a space at the end of a name. */
const WINDOWS_CHARACTER = /[<>:"|?*]|[. ]$/

/** Says what is wrong with one name of a path; undefined where it stays in its folder. Not every file system can have it. */
function checkName(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'a name is empty, . or ..'
  if (name.includes('/')) return 'a name holds a slash'
  if (name.includes('\0')) return 'a name holds a zero byte'
  if (pathByteLength(name) > MAX_NAME_BYTES) return `a name is longer than ${MAX_NAME_BYTES} bytes`
  return undefined
}

/** Says what is wrong with one name of a path; undefined where every common file system can have it. */
export function checkPortableName(name: string): string | undefined {
  const wrong = checkName(name)
  if (wrong !== undefined) return wrong
  if (name.includes('\\')) return 'a name holds a backslash'
  if (CONTROL_CHARACTER.test(name)) return 'a name holds a control character'
  if (!name.isWellFormed()) return 'a name is no Unicode text'
  if (DEVICE_NAME.test(name)) return 'a name belongs to a device'
  return undefined
}

/** Says why Windows cannot have a name; undefined where it can. */
export function checkWindowsName(name: string): string | undefined {
  if (WINDOWS_CHARACTER.test(name)) return 'a name holds a character that Windows keeps for itself'
  return checkPortableName(name)
}

/** Says why this machine cannot have a name, whatever its file system; undefined where it can. */
export const checkLocalName = sep === '\\' ? checkWindowsName : checkName

/** Says what is wrong with a path of a manifest; undefined when it stays inside the share. */
function checkPath(path: string): string | undefined {
  if (pathByteLength(path) > MAX_PATH_BYTES) return `a path is longer than ${MAX_PATH_BYTES} bytes`
  for (const name of path.split('/')) {
    const problem = checkName(name)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Looks at a manifest entry by entry, so that the first one that is wrong ends it. */
export class ManifestCheck {
  readonly #isFolder: boolean
  readonly #nameProblem: string | undefined
  readonly #folders = new Set([''])
  readonly #paths = new Set<string>()
  #entryCount = 0
  #bytes = 0
  #textBytes = 0

  constructor({ name, isFolder }: Pick<Manifest, 'name' | 'isFolder'>) {
    this.#isFolder = isFolder
    this.#nameProblem = checkName(name)
  }

  /** Says what is wrong with the next entry, or with all so far. */
  add(entry: ManifestEntry): string | undefined {
    const wrong = this.#nameProblem ?? this.#checkEntry(entry)
    if (wrong !== undefined) return wrong
    this.#entryCount++
    this.#bytes += entry.size
    this.#textBytes += pathByteLength(entry.path)
    if (this.#entryCount > MAX_MANIFEST_ENTRIES) return `more than ${MAX_MANIFEST_ENTRIES} files`
    if (this.#bytes > Number.MAX_SAFE_INTEGER) return 'more bytes than can be counted'
    if (this.#textBytes > MAX_MANIFEST_BYTES) return `paths of more than ${MAX_MANIFEST_BYTES} bytes`
    return undefined
  }

  /** Says what is wrong once all entries were added. */
  end(): string | undefined {
    if (!this.#isFolder && this.#entryCount !== 1) return 'a file that is no file'
    return this.#nameProblem
  }

  #checkEntry({ path, isFolder, size, modifiedMs }: ManifestEntry): string | undefined {
    const wrong = checkPath(path)
    if (wrong !== undefined) return wrong
    if (!this.#isFolder && (isFolder || this.#entryCount > 0)) return 'a file that is no file'
    if (!Number.isSafeInteger(size) || size < 0 || (isFolder && size > 0)) return 'a size that is none'
    if (!Number.isSafeInteger(modifiedMs)) return 'a time that is none'
    if (this.#paths.has(path)) return 'two files of one name'
    this.#paths.add(path)
    if (!this.#folders.has(folderOf(path))) return 'a file outside the folders of the share'
    if (isFolder) this.#folders.add(path)
    return undefined
  }
}

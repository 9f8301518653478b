/**
 * Finds the entries of a share that the file system of a folder cannot hold. Asks it which names it treats as equal, and goes
 * through the list. Names with characters that some systems refuse are tried.
 */
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type LeftOut, LeftOutList } from './left-out.ts'
import { checkLocalName, checkWindowsName, folderOf, type Manifest, nameOf } from './manifest.ts'
import { decodePath, placeIn } from './path-bytes.ts'
import { isSystemError } from './scan.ts'

export interface Unstorable {
  /** Indices of entries in the manifest. */
  readonly indices: ReadonlySet<number>
  readonly leftOut: LeftOut
}

/** Judges all names of a manifest by what a folder on the same file system takes. @param folder that exists, for files that are tried */
export async function findUnstorable(
  { entries }: Pick<Manifest, 'entries'>,
  folder: string,
): Promise<Unstorable> {
  const trial = join(folder, 'names')
  await rm(trial, { recursive: true, force: true })
  await mkdir(trial)
  try {
    const judge = new NameJudge(trial, await findFold(trial))
    const indices = new Set<number>()
    const leftOut = new LeftOutList()
    let index = 0
    for (const { path, isFolder } of entries) {
      const reason = await judge.judge(path, isFolder)
      if (reason !== undefined) {
        indices.add(index)
        leftOut.add(path, reason)
      }
      index++
    }
    return { indices, leftOut }
  } finally {
    await rm(trial, { recursive: true, force: true })
  }
}

/** Writes a path so that two that are the same to the file system are equal. Undefined: all differ. */
type Fold = ((path: string) => string) | undefined

class NameJudge {
  readonly #trial: string
  readonly #fold: Fold
  readonly #folded = new Set<string>()
  readonly #folders = new Set([''])

  constructor(trial: string, fold: Fold) {
    this.#trial = trial
    this.#fold = fold
  }

  /** Says why an entry cannot be stored beside those before it; folders come before what is inside them. */
  async judge(path: string, isFolder: boolean): Promise<string | undefined> {
    if (!this.#folders.has(folderOf(path))) return 'its folder is left out'
    const name = nameOf(path)
    const wrong = checkLocalName(name) ?? (await this.#try(name))
    if (wrong !== undefined) return wrong
    const folded = this.#fold?.(path)
    if (folded !== undefined) {
      if (this.#folded.has(folded)) return 'the file system here takes its name and another one for the same'
      this.#folded.add(folded)
    }
    if (isFolder) this.#folders.add(path)
    return undefined
  }

  async #try(name: string): Promise<string | undefined> {
    if (checkWindowsName(name) === undefined || (await canHold(this.#trial, name))) return undefined
    return 'the file system here does not take its name'
  }
}

/** Makes a file and looks whether it has the name that was asked for: some systems cut names or change characters. */
async function canHold(trial: string, name: string): Promise<boolean> {
  const place = placeIn(trial, name)
  try {
    await (await open(place, 'wx')).close()
    const found = await readdir(trial, { encoding: 'buffer' })
    return found.some((bytes) => decodePath(bytes) === name)
  } catch (error) {
    if (isSystemError(error) && NAME_CODES.has(error.code ?? '')) return false
    throw error
  } finally {
    await rm(place, { force: true }).catch(() => {})
  }
}

/** Codes with which systems refuse a name. */
const NAME_CODES: ReadonlySet<string> = new Set([
  'EINVAL',
  'EILSEQ',
  'ENAMETOOLONG',
  'ENOENT',
  'EPERM',
  'EACCES',
])

async function findFold(trial: string): Promise<Fold> {
  await (await open(join(trial, 'case'), 'wx')).close()
  await (await open(join(trial, 'e\u0301'), 'wx')).close()
  const isThere = (name: string) =>
    lstat(join(trial, name)).then(
      () => true,
      () => false,
    )
  const [foldsCase, normalizes] = [await isThere('CASE'), await isThere('\u00e9')]
  for (const name of await readdir(trial)) await rm(join(trial, name))
  if (!foldsCase && !normalizes) return undefined
  return (path) => {
    const composed = normalizes ? path.normalize('NFC') : path
    return foldsCase ? composed.toLowerCase() : composed
  }
}

/**
 * Loads the addons of the single executable from files. Node itself loads them through memory, under the name of a
 * descriptor, and glibc takes two of the same name for one library: the second addon would be the first.
 *
 * A file stands in a new folder that only this user can enter, and is removed once it is loaded: nothing of it can be
 * changed or taken from another user, and nothing stays behind.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join, sep } from 'node:path'
import { toError } from '@mesh/core'

type Load = (file: string) => void

/** Replaces `process.dlopen` for the files that the executable holds. @param held the folder of its files */
export function loadAddonsFromFiles(held: string): void {
  const load = process.dlopen
  process.dlopen = (module: object, file: string, ...flags: readonly []) => {
    if (!file.startsWith(held + sep)) return load(module, file, ...flags)
    loadFromFile({ name: basename(file), bytes: readFileSync(file) }, (copy) => load(module, copy, ...flags))
  }
}

/**
 * Calls `load` with a file of these bytes, in the first of the places where a file can be made and loaded.
 *
 * @param places folders, most of which may be missing, full, or mounted `noexec`
 * @throws the error of the last place
 */
export function loadFromFile(
  addon: { readonly name: string; readonly bytes: Uint8Array },
  load: Load,
  places: readonly string[] = usualPlaces(),
): void {
  let failure: unknown
  for (const place of places) {
    try {
      loadIn(mkdtempSync(join(place, 'mesh-')), addon, load)
      return
    } catch (error) {
      failure = error
    }
  }
  throw toError(failure)
}

function loadIn(folder: string, { name, bytes }: { name: string; bytes: Uint8Array }, load: Load): void {
  try {
    const file = join(folder, name)
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o500 })
    load(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function usualPlaces(): readonly string[] {
  const { XDG_RUNTIME_DIR, STATE_DIRECTORY, XDG_CACHE_HOME } = process.env
  const places = [tmpdir(), '/dev/shm', XDG_RUNTIME_DIR, STATE_DIRECTORY, XDG_CACHE_HOME, homeOfUser()]
  return places.flatMap((place) => (place === undefined || place === '' ? [] : [place]))
}

/** Users that a service manager makes up have none. */
function homeOfUser(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

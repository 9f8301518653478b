/**
 * A damaged file of a ledger is moved aside, and the last copy of it takes its place; without a copy the ledger begins
 * empty, and its entries come back from the other members. Nothing is deleted but what was moved aside long before.
 */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Clock, MeshError } from '@mesh/core'
import { MAX_FILES_SET_ASIDE } from '../limits.ts'
import { copyPathOf, LOG_SUFFIXES } from './copy-path.ts'

/** The outcome for a damaged file that was moved away. */
export interface SetAside {
  /** Where the damaged file is now. */
  readonly movedTo: string
  /** Why it could not be used, in words for people. */
  readonly reason: string
  /** When the copy was made that took its place, in unix ms; undefined when there was none. */
  readonly copiedAt: number | undefined
}

/**
 * Makes room for a sound store where a store could not be opened because its file is broken. Called again for the same
 * file, the copy was broken as well and goes aside, too.
 *
 * @returns undefined when the error is another, and nothing was done: a file in use, of a later version, a full disk
 */
export function setAsideDamaged(path: string, error: unknown, clock: Clock): SetAside | undefined {
  if (!isBroken(path, error)) return undefined
  const aside = `${path}.damaged-${new Date(clock.now()).toISOString().replaceAll(':', '-')}`
  const movedTo = freeName(aside)
  renameSync(path, movedTo)
  for (const suffix of LOG_SUFFIXES) {
    if (existsSync(path + suffix)) renameSync(path + suffix, movedTo + suffix)
  }
  forgetOldest(path)
  const copy = copyPathOf(path)
  const reason = (error as MeshError).message
  if (!existsSync(copy)) return { movedTo, reason, copiedAt: undefined }
  const copiedAt = statSync(copy).mtimeMs
  // it is moved, so that a broken copy is not taken a second time
  renameSync(copy, path)
  chmodSync(path, 0o600)
  return { movedTo, reason, copiedAt }
}

function isBroken(path: string, error: unknown): boolean {
  if (!(error instanceof MeshError) || error.code !== 'ledger.store_damaged') return false
  const { location, isBroken: broken } = error.details as { location?: unknown; isBroken?: unknown }
  return location === path && broken === true
}

function freeName(wanted: string): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? wanted : `${wanted}-${n}`
    if (!existsSync(name)) return name
  }
}

/** Names begin with the time, so that they sort by age. */
function forgetOldest(path: string): void {
  const folder = dirname(path)
  const prefix = `${basename(path)}.damaged-`
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && !LOG_SUFFIXES.some((suffix) => name.endsWith(suffix)))
    .toSorted()
  for (const name of files.slice(0, -MAX_FILES_SET_ASIDE)) {
    for (const suffix of ['', ...LOG_SUFFIXES])
      rmSync(join(folder, name + suffix), { force: true, recursive: true })
  }
}

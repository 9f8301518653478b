/**
 * Moves a damaged file of a ledger aside and puts the last copy in its place. Without a copy the ledger begins empty, and
 * other members send its entries. If only the log is damaged, the file stays in use unless the copy is newer. Only files
 * that were moved aside long ago are deleted.
 */
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Clock, MeshError } from '@mesh/core'
import { MAX_FILES_SET_ASIDE } from '../limits.ts'
import { isDamage } from '../state/store.ts'
import { brokenLogOf, copyPathOf, LOG_SUFFIXES } from './copy-path.ts'
import { readStoredHead } from './stored-rows.ts'

/** The outcome for a damaged file that was moved away. */
export interface SetAside {
  /** Where the damaged file is now. */
  readonly movedTo: string
  /** Why it could not be used, in words for people. */
  readonly reason: string
  /** When the copy was made that took its place, in unix ms; undefined when there was none. */
  readonly copiedAt: number | undefined
  /** True where the file is in use still, without what its log brought last. */
  readonly isContinued: boolean
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
  const reason = (error as MeshError).message
  const copy = copyPathOf(path)
  const isLogAlone = (error as MeshError).details['isLogAlone'] === true
  const brokenLog = brokenLogOf(path)
  if (isLogAlone && existsSync(brokenLog)) renameSync(brokenLog, `${movedTo}-wal`)
  if (isLogAlone && blockOf(copy) <= blockOf(path)) {
    forgetOldest(path)
    return { movedTo: `${movedTo}-wal`, reason, copiedAt: undefined, isContinued: true }
  }
  renameSync(path, movedTo)
  for (const suffix of LOG_SUFFIXES) {
    if (existsSync(path + suffix)) renameSync(path + suffix, movedTo + suffix)
  }
  forgetOldest(path)
  if (!existsSync(copy)) return { movedTo, reason, copiedAt: undefined, isContinued: false }
  const copiedAt = statSync(copy).mtimeMs
  // it is moved, so that a broken copy is not taken a second time
  renameSync(copy, path)
  chmodSync(path, 0o600)
  return { movedTo, reason, copiedAt, isContinued: false }
}

/** The block with which a file ends; -1 where it cannot be read. */
function blockOf(path: string): number {
  try {
    if (!existsSync(path)) return -1
    const database = new DatabaseSync(path, { timeout: 0 })
    try {
      // no log files stay beside it
      database.exec('PRAGMA locking_mode = EXCLUSIVE')
      return readStoredHead(database)?.head.index ?? -1
    } finally {
      database.close()
    }
  } catch {
    return -1
  }
}

function isBroken(path: string, error: unknown): boolean {
  if (!isDamage(error)) return false
  const { location, isBroken: broken } = (error as MeshError).details as {
    location?: unknown
    isBroken?: unknown
  }
  return location === path && broken === true
}

function freeName(wanted: string): string {
  for (let n = 0; ; n++) {
    const name = n === 0 ? wanted : `${wanted}-${n}`
    if (!['', ...LOG_SUFFIXES].some((suffix) => existsSync(name + suffix))) return name
  }
}

function withoutSuffix(name: string): string {
  const suffix = LOG_SUFFIXES.find((each) => name.endsWith(each)) ?? ''
  return name.slice(0, name.length - suffix.length)
}

/** Names begin with the time, so that they sort by age. */
function forgetOldest(path: string): void {
  const folder = dirname(path)
  const prefix = `${basename(path)}.damaged-`
  const files = readdirSync(folder).filter((name) => name.startsWith(prefix))
  const names = new Set(files.map(withoutSuffix))
  for (const name of [...names].toSorted().slice(0, -MAX_FILES_SET_ASIDE)) {
    for (const suffix of ['', ...LOG_SUFFIXES])
      rmSync(join(folder, name + suffix), { force: true, recursive: true })
  }
}

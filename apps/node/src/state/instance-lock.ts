/**
 * One process for each instance. The lock is SQLite's on a file of its own. The kernel frees it with the process, so nothing stale
 * remains after `kill -9`. A pid file only says who holds it.
 */
import { lstatSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MeshError } from '@mesh/core'
import { readStateText } from '../files/read-state-file.ts'

export interface InstanceLock {
  /** False when its files were removed, or another process made them anew: nothing keeps a second node away then. */
  isInPlace(): boolean
  /** Removes the lock's files while it is still held. */
  remove(): void
  /** Lets the lock go; idempotent. */
  release(): void
}

/** @throws MeshError `node.locked` naming the process that holds it, `node.state_unusable` */
export function acquireInstanceLock(folder: string, instance: string): InstanceLock {
  const pidFile = join(folder, 'pid')
  const database = lockDatabase(join(folder, 'lock'))
  if (database === undefined) {
    const holder = readHolder(folder)
    throw new MeshError(
      'node.locked',
      `the instance "${instance}" is in use by ${holder === undefined ? 'another process' : `process ${holder}`}`,
      {
        hint: 'Stop that one, or run this node beside it with --instance NAME.',
        details: { folder, holder },
      },
    )
  }
  try {
    // a pipe in its place would be waited for
    if (lstatSync(pidFile, { throwIfNoEntry: false })?.isFile() === false) rmSync(pidFile)
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch (cause) {
    // SQLite locks a file that it may only read
    database.close()
    throw unusable(pidFile, 'write', cause)
  }
  let held = true
  return {
    isInPlace: () => isHolderOrUnknown(pidFile),
    remove() {
      if (!held) return
      for (const name of ['pid', 'lock']) rmSync(join(folder, name), { force: true })
    },
    release() {
      if (!held) return
      held = false
      if (isHolderOrUnknown(pidFile)) rmSync(pidFile, { force: true })
      database.close()
    },
  }
}

/** The process that holds the instance, as far as is known. */
function readHolder(folder: string): number | undefined {
  try {
    const pid = Number.parseInt(readStateText(join(folder, 'pid')), 10)
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

/** A file that cannot be read now, as without free descriptors, tells nothing. */
function isHolderOrUnknown(pidFile: string): boolean {
  try {
    return readStateText(pidFile).trim() === String(process.pid)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Undefined when another process holds it. */
function lockDatabase(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database?.close()
    const code = (cause as { errcode?: number }).errcode
    if (code !== undefined && SQLITE_LOCKED_CODES.has(code & 0xff)) return undefined
    throw unusable(file, 'lock', cause)
  }
}

function unusable(file: string, verb: 'lock' | 'write', cause: unknown): MeshError {
  return new MeshError('node.state_unusable', `cannot ${verb} ${file}`, {
    cause,
    hint: `${verb === 'write' ? 'Is the folder writable, and is there room (df -h, df -i)?' : 'Is the folder writable, is there room, and is it a sound file? It holds nothing, and may be removed while no node runs here.'} --state-dir takes another folder.`,
  })
}

/** The codes SQLITE_BUSY and SQLITE_LOCKED. */
const SQLITE_LOCKED_CODES = new Set([5, 6])

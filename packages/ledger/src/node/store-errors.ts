/** Turns what SQLite says of a file into errors of a store. */
import { MeshError } from '@mesh/core'
import type { StoreErrorCode } from '../state/store.ts'

/** A file that is a database, but not a sound one of ours. */
export class ForeignFile extends Error {
  /** False for a file that may be whole, and another version's or another program's. */
  readonly isBroken: boolean

  constructor(message: string, isBroken = false) {
    super(message)
    this.isBroken = isBroken
  }
}

/** A file that is sound, and was left behind by a log that is not: what the log brought last is gone. */
export class BrokenLog extends ForeignFile {
  constructor() {
    super('its log is not what was written, and what came last is missing', true)
  }
}

// SQLite's result codes, the low byte of `errcode`.
const ERROR = 1
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const NOT_A_DATABASE = 26

/** Runs what uses the file; its errors come as those of a store. */
export function translating<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    if (cause instanceof MeshError) throw cause
    throw toMeshError(path, cause)
  }
}

/** The error of a store for what using its file threw. */
export function toMeshError(path: string, cause: unknown): MeshError<StoreErrorCode> {
  const details = { location: path }
  const code = sqliteCode(cause)
  if (isInUse(cause)) {
    return new MeshError('ledger.store_locked', `${path} is in use by another process`, {
      hint: 'Stop the other node, or give this one its own instance name.',
      details,
      cause,
    })
  }
  // our statements are right: what SQLite finds wrong with one, it finds wrong with the tables
  const isBroken =
    cause instanceof RangeError || code === CORRUPT || code === NOT_A_DATABASE || code === ERROR
  if (isBroken || cause instanceof ForeignFile) {
    return new MeshError('ledger.store_damaged', `${path} is damaged: ${(cause as Error).message}`, {
      hint: `Move ${path} away and start again: the other members have the entries.`,
      details: {
        ...details,
        isBroken: isBroken || (cause as ForeignFile).isBroken,
        isLogAlone: cause instanceof BrokenLog,
      },
      cause,
    })
  }
  return new MeshError('ledger.store_failed', `${path} cannot be used: ${String((cause as Error).message)}`, {
    hint: 'Check that its folder exists, that the disk is not full, that this user may write there, and that enough files may be open (ulimit -n).',
    details,
    cause,
  })
}

/** Does another process, or this one, use the file? */
export function isInUse(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === BUSY || code === LOCKED
}

function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

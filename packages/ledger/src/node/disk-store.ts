/**
 * A ledger on disk, in one SQLite file with a write-ahead log. A batch is one transaction, so a process that dies
 * at any moment leaves the last committed block; a power cut may take the last seconds with it unless `powerSafe`.
 * Nothing damaged is ever repaired or deleted here: the file stays for whoever wants to look.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { MeshError } from '@mesh/core'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { MAX_LEDGER_BYTES } from '../limits.ts'
import type { BlockHead } from '../state/snapshot.ts'
import type { PrunedTombstone, Store, StoreBatch, StoredLedger, StoreErrorCode } from '../state/store.ts'

/** Raised when tables change, with a step in `UPGRADES`; a file of a later version is refused. */
const SCHEMA_VERSION = 2
/** 'mesh' in ASCII: tells our files from other databases. */
const APPLICATION_ID = 0x6d657368
const PAGE_BYTES = 4096
/** Text, indexes and free pages: the file may be twice the ledger. */
const DEFAULT_MAX_FILE_BYTES = 2 * MAX_LEDGER_BYTES
/** The log is cut back to this when it is written over. */
const MAX_LOG_BYTES = 8 * 1024 * 1024

const SCHEMA = `
  CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1), block INTEGER NOT NULL, timestamp TEXT NOT NULL,
    hash TEXT NOT NULL, prev_hash TEXT NOT NULL, fingerprint TEXT NOT NULL
  ) STRICT;
  CREATE TABLE entry (
    bucket TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, owner TEXT NOT NULL, version INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, deleted INTEGER NOT NULL, sig BLOB, PRIMARY KEY (bucket, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE pruned_tombstone (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, version INTEGER NOT NULL
  ) STRICT;
`

/** The step from each earlier version to the next one; it runs in the transaction that opens the file. */
const UPGRADES: Readonly<Record<number, string>> = { 1: 'ALTER TABLE burial RENAME TO pruned_tombstone' }

export interface DiskStoreInit {
  /** The file; its folder must exist. Made with mode 0600. */
  readonly path: string
  /** The file never grows beyond this; default 512 MiB. */
  readonly maxBytes?: number
  /** Waits for the disk at every block; default false, which survives everything but a power cut. */
  readonly powerSafe?: boolean
}

/**
 * Opens the file, or makes it, and checks it.
 * @throws MeshError `ledger.store_locked`, `ledger.store_damaged`, `ledger.store_failed`
 */
export function openDiskStore(init: DiskStoreInit): Store {
  return translating(init.path, () => {
    // SQLite would make it readable for all; its log files take the mode of the database.
    if (!existsSync(init.path)) closeSync(openSync(init.path, 'a', 0o600))
    const database = new DatabaseSync(init.path, { timeout: 0 })
    try {
      prepareDatabase(database, init)
      return new DiskStore(database, init.path)
    } catch (error) {
      database.close()
      throw error
    }
  })
}

class DiskStore implements Store {
  readonly location: string
  readonly #database: DatabaseSync
  readonly #putHead: StatementSync
  readonly #putEntry: StatementSync
  readonly #removeEntry: StatementSync
  readonly #rememberPruned: StatementSync
  readonly #forgetPruned: StatementSync
  #closed = false

  constructor(database: DatabaseSync, location: string) {
    this.location = location
    this.#database = database
    this.#putHead = database.prepare('INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?, ?)')
    this.#putEntry = database.prepare('INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    this.#removeEntry = database.prepare('DELETE FROM entry WHERE bucket = ? AND key = ?')
    this.#rememberPruned = database.prepare(
      'INSERT OR REPLACE INTO pruned_tombstone (hash, version) VALUES (?, ?)',
    )
    this.#forgetPruned = database.prepare('DELETE FROM pruned_tombstone WHERE hash = ?')
  }

  load(): StoredLedger | undefined {
    return translating(this.location, () => {
      const [head] = this.#rows('SELECT block, timestamp, hash, prev_hash, fingerprint FROM head', readHead)
      if (head === undefined) return undefined
      const share = createSharing()
      return {
        ...head,
        entries: this.#rows(
          'SELECT bucket, key, value, owner, version, updated_at, deleted, sig FROM entry',
          (row) => readEntry(row, share),
        ),
        pruned: this.#rows('SELECT hash, version FROM pruned_tombstone ORDER BY sequence', readPruned),
      }
    })
  }

  commit(batch: StoreBatch): void {
    translating(this.location, () => {
      this.#database.exec('BEGIN IMMEDIATE')
      try {
        this.#write(batch)
        this.#database.exec('COMMIT')
      } catch (error) {
        // A full disk may have ended the transaction already.
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
        throw error
      }
    })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#database.close()
  }

  #write({ head, fingerprint, puts, removes, pruned, forgotten }: StoreBatch): void {
    for (const { bucket, key, entry } of puts) {
      const { value, owner, version, updatedAt, deleted, sig } = entry
      this.#putEntry.run(bucket, key, value, owner, toSigned(version), updatedAt, deleted ? 1 : 0, sig)
    }
    for (const { bucket, key } of removes) this.#removeEntry.run(bucket, key)
    for (const hash of forgotten) this.#forgetPruned.run(hash)
    for (const { hash, version } of pruned) this.#rememberPruned.run(hash, toSigned(version))
    this.#putHead.run(head.index, head.timestamp, head.hash, head.prevHash, fingerprint)
  }

  /** Row by row, so that only what is made of the rows stays. */
  #rows<T>(query: string, read: (row: Row) => T): T[] {
    const statement = this.#database.prepare(query)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    const list: T[] = []
    for (const row of statement.iterate()) list.push(read(row as unknown as Row))
    return list
  }
}

/** Values in the order of the query's columns. */
type Row = readonly unknown[]

function prepareDatabase(database: DatabaseSync, { maxBytes, powerSafe }: DiskStoreInit): void {
  // Exclusive: a second process cannot open the file while this one lives, and no shared memory is needed.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('BEGIN EXCLUSIVE')
  makeTables(database)
  database.exec('COMMIT')
  database.exec(`PRAGMA synchronous = ${powerSafe === true ? 'FULL' : 'NORMAL'}`)
  database.exec(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`)
  database.exec(`PRAGMA max_page_count = ${Math.floor((maxBytes ?? DEFAULT_MAX_FILE_BYTES) / PAGE_BYTES)}`)
  // The structure; the contents are checked against their fingerprint by whoever loads them.
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (check !== 'ok') throw new ForeignFile(text(check))
}

/** Makes the tables in an empty file, and brings those of earlier versions to this one's. */
function makeTables(database: DatabaseSync): void {
  const version = pragma(database, 'user_version')
  const application = pragma(database, 'application_id')
  if (version === 0 && pragma(database, 'schema_version') === 0) {
    database.exec(SCHEMA)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  } else if (application !== APPLICATION_ID) {
    throw new ForeignFile('another program wrote it')
  } else {
    for (let from = version; from !== SCHEMA_VERSION; from++) {
      const upgrade = UPGRADES[from]
      if (upgrade === undefined) throw new ForeignFile(`schema version ${version}`)
      database.exec(upgrade)
    }
    if (version === SCHEMA_VERSION) return
  }
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

/** A file that is a database, but not a sound one of ours. */
class ForeignFile extends Error {}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}

// SQLite's result codes, the low byte of `errcode`.
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const NOT_A_DATABASE = 26

function translating<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    if (cause instanceof MeshError) throw cause
    throw toMeshError(path, cause)
  }
}

function toMeshError(path: string, cause: unknown): MeshError<StoreErrorCode> {
  const details = { location: path }
  const code = sqliteCode(cause)
  if (code === BUSY || code === LOCKED) {
    return new MeshError('ledger.store_locked', `${path} is in use by another process`, {
      hint: 'Stop the other node, or give this one its own instance name.',
      details,
      cause,
    })
  }
  if (
    cause instanceof ForeignFile ||
    cause instanceof RangeError ||
    code === CORRUPT ||
    code === NOT_A_DATABASE
  ) {
    return new MeshError('ledger.store_damaged', `${path} is damaged: ${(cause as Error).message}`, {
      hint: `Move ${path} away and start again: the other members have the entries.`,
      details,
      cause,
    })
  }
  return new MeshError('ledger.store_failed', `${path} cannot be used: ${String((cause as Error).message)}`, {
    hint: 'Check that its folder exists, that the disk is not full and that this user may write there.',
    details,
    cause,
  })
}

function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

function readHead([block, timestamp, hash, prevHash, fingerprint]: Row) {
  const head: BlockHead = {
    index: Number(block),
    timestamp: text(timestamp),
    hash: text(hash),
    prevHash: text(prevHash),
  }
  return { head, fingerprint: text(fingerprint) }
}

function readEntry(row: Row, share: (text: string) => string): KeyedEntry {
  const [bucket, key, value, owner, version, updatedAt, deleted, sig] = row
  const entry: Entry = {
    value: text(value),
    owner: share(text(owner)),
    version: toUnsigned(version),
    updatedAt: Number(updatedAt),
    deleted: deleted === 1n,
    sig: sig instanceof Uint8Array ? sig : null,
  }
  return { bucket: share(text(bucket)), key: text(key), entry }
}

/** One string for equal ones: a few owners and buckets sign and hold everything. */
function createSharing(): (text: string) => string {
  const known = new Map<string, string>()
  return (found) => {
    const shared = known.get(found)
    if (shared !== undefined) return shared
    known.set(found, found)
    return found
  }
}

function readPruned([hash, version]: Row): PrunedTombstone {
  return { hash: text(hash), version: toUnsigned(version) }
}

/** SQLite's integers are signed. */
function toSigned(version: bigint): bigint {
  return BigInt.asIntN(64, version)
}

function toUnsigned(value: unknown): bigint {
  return BigInt.asUintN(64, typeof value === 'bigint' ? value : 0n)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

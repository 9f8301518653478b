/**
 * A ledger on disk, in one SQLite file with a write-ahead log. A batch is one transaction, so a process that dies
 * at any moment leaves the last committed block; a power cut may take the last seconds with it unless `powerSafe`.
 * Nothing damaged is changed here; `set-aside.ts` moves it, and puts the last copy in its place.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { backup, DatabaseSync, type StatementSync } from 'node:sqlite'
import { MAX_LEDGER_BYTES } from '../limits.ts'
import { isDamage, type Store, type StoreBatch, type StoredLedger } from '../state/store.ts'
import { brokenLogOf, copyPathOf, LOG_SUFFIXES } from './copy-path.ts'
import { isLogBroken } from './log-check.ts'
import { BrokenLog, ForeignFile, isInUse, toMeshError, translating } from './store-errors.ts'
import { checkStructure, readStoredHead, storedEntries, storedPruned, toSigned } from './stored-rows.ts'

/** Raised when tables change, with a step in `UPGRADES`; a file of a later version is refused. */
const SCHEMA_VERSION = 2
/** No version will come this far: a number beyond it is a damaged one, and below it one of a later program. */
const MAX_SCHEMA_VERSION = 1_000
/** 'mesh' in ASCII: tells our files from other databases. */
const APPLICATION_ID = 0x6d657368
const PAGE_BYTES = 4096
/** Text, indexes and free pages: the file may be twice the ledger. */
const DEFAULT_MAX_FILE_BYTES = 2 * MAX_LEDGER_BYTES
/** Pages that are copied before other work has its turn: a write waits for no more than these. */
const COPIED_PAGES_AT_ONCE = 64
/** The suffix of the name of the file whose bytes tell whether there is room. */
const ROOM_SUFFIX = '.room'
/** A log of this size is written back to the file and emptied: 1,000 pages, as SQLite does by itself. */
const MAX_LOG_BYTES = 4 * 1024 * 1024

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
export function openDiskStore(init: DiskStoreInit): DiskStore {
  return translating(init.path, () => {
    // SQLite would make it readable for all; its log files take the mode of the database.
    if (!existsSync(init.path)) makeFile(init.path)
    checkFile(init.path)
    const database = new DatabaseSync(init.path, { timeout: 0 })
    try {
      prepareDatabase(database, init)
      return new DiskStore(database, init.path)
    } catch (error) {
      database.close()
      // not before: whoever closes a file gives up the locks that its process holds on it
      if (isInUse(error) || !isHeaderBroken(init.path)) throw error
      throw new ForeignFile('its header is not that of a ledger', true)
    }
  })
}

/** A store in a file that can be copied while it is used. */
export class DiskStore implements Store {
  readonly location: string
  readonly #database: DatabaseSync
  readonly #putHead: StatementSync
  readonly #putEntry: StatementSync
  readonly #removeEntry: StatementSync
  readonly #rememberPruned: StatementSync
  readonly #forgetPruned: StatementSync
  #closed = false
  /** False where the log could not be written back: what it holds may never reach the disk. */
  #isLogSound = true
  #isDamaged = false
  #onDamaged = () => {}

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
      const head = readStoredHead(this.#database)
      if (head === undefined) return undefined
      const entries = [...storedEntries(this.#database)]
      return { ...head, entries, pruned: [...storedPruned(this.#database)] }
    })
  }

  commit(batch: StoreBatch): void {
    try {
      translating(this.location, () => {
        this.#keepLogShort()
        this.#transact(batch)
      })
    } catch (error) {
      if (isDamage(error)) {
        this.#isDamaged = true
        this.#onDamaged()
      }
      throw error
    }
  }

  /** Written to a file beside it and removed: free space alone tells nothing of quotas and of disks that only read. */
  hasRoomFor(bytes: number): boolean {
    const pages = pragma(this.#database, 'max_page_count') - pragma(this.#database, 'page_count')
    if ((pages + pragma(this.#database, 'freelist_count')) * PAGE_BYTES < bytes) return false
    const file = `${this.location}${ROOM_SUFFIX}`
    try {
      rmSync(file, { force: true })
      writeFileSync(file, Buffer.alloc(bytes), { mode: 0o600, flag: 'wx' })
      return true
    } catch {
      return false
    } finally {
      rmSync(file, { force: true })
    }
  }

  /**
   * Copies the file as it is on the disk at the end of copying, a few pages at a time, with other work in between; `close`
   * ends it. A store that was closed is copied as it was left.
   * @throws MeshError `ledger.store_damaged`, `ledger.store_failed`
   */
  async copyTo(path: string): Promise<void> {
    try {
      if (this.#closed) return await copyClosed(this.location, path)
      this.#writeLogBack()
      // else pages that SQLite has in memory would hide what is on the disk
      this.#database.exec('PRAGMA shrink_memory')
      await backup(this.#database, path, { rate: COPIED_PAGES_AT_ONCE })
    } catch (cause) {
      throw toMeshError(path, cause)
    }
  }

  /** Calls back when a batch was not stored because the file is damaged. */
  onDamaged(listener: () => void): void {
    this.#onDamaged = listener
  }

  isDamaged(): boolean {
    return this.#isDamaged
  }

  /** Must be called when all of the file was read and is sound, so that it is written to again. */
  noteSound(): void {
    this.#isDamaged = false
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#database.close()
  }

  /** Before a batch, as a batch that is in the log is stored: what fails here refuses the next one, until it works. */
  #keepLogShort(): void {
    if (this.#isLogSound && sizeOf(`${this.location}-wal`) <= MAX_LOG_BYTES) return
    this.#writeLogBack()
  }

  /** Waits for the disk. SQLite would do so by itself, but not tell where that fails. */
  #writeLogBack(): void {
    this.#isLogSound = false
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#isLogSound = true
  }

  #transact(batch: StoreBatch): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      this.#write(batch)
      this.#database.exec('COMMIT')
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
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
}

/** Rejects where SQLite left a log: it belongs to the file, and the copy would be an older one without it. */
async function copyClosed(location: string, path: string): Promise<void> {
  if (existsSync(`${location}-wal`)) throw new Error('the log of the file was not written back')
  await copyFile(location, path)
}

/** A new empty file; what a symbolic link leads to is not made. */
function makeFile(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw new ForeignFile(`it is a symbolic link to ${readlinkSync(path)}, where no file can be reached`)
  closeSync(openSync(path, 'ax', 0o600))
}

/** SQLite takes what is left of a file that was cut to less than a page for a fresh one, and would wait for a pipe. */
function checkFile(path: string): void {
  const stat = statSync(path)
  if (!stat.isFile()) throw new ForeignFile('it is no file', true)
  for (const log of LOG_SUFFIXES.map((suffix) => path + suffix)) {
    const isOther = lstatSync(log, { throwIfNoEntry: false })?.isFile() === false
    if (isOther) throw new Error(`${log} is no file of SQLite: remove it`)
  }
  const { size } = stat
  if (size > 0 && size < PAGE_BYTES) throw new ForeignFile(`it has ${size} bytes`, true)
  // SQLite removes the log of an empty file unread
  const beside = [copyPathOf(path), `${path}-wal`].find((other) => sizeOf(other) > 0)
  if (size === 0 && beside !== undefined) throw new ForeignFile(`it is empty, and ${beside} is not`, true)
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Where SQLite's file header has its fixed bytes: what is read wrongly there is told as lack of rights or disk. */
const FIXED_HEADER: readonly (readonly [offset: number, bytes: string])[] = [
  [0, '53514c69746520666f726d6174203300'],
  // pages of 4 KiB, with or without a log, no reserved bytes, and the fractions that SQLite fixes
  [16, '1000'],
  [20, '00402020'],
  [56, '00000001'],
]
const FILE_HEADER_BYTES = 100

/** Has the file a header that none of ours has? An empty file has none. */
function isHeaderBroken(path: string): boolean {
  const header = Buffer.alloc(FILE_HEADER_BYTES)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, header, 0, FILE_HEADER_BYTES, 0) < FILE_HEADER_BYTES) return false
  } finally {
    closeSync(file)
  }
  // before anything is stored, the encoding may not stand there yet
  const isFixed = FIXED_HEADER.every(([at, bytes]) => {
    const found = header.subarray(at, at + bytes.length / 2).toString('hex')
    return found === bytes || (at === 56 && found === '00000000')
  })
  const formats = [header[18], header[19]]
  return !isFixed || formats.some((format) => format !== 1 && format !== 2)
}

function prepareDatabase(database: DatabaseSync, { path, maxBytes, powerSafe }: DiskStoreInit): void {
  // Exclusive: a second process cannot open the file while this one lives, and no shared memory is needed.
  database.exec('PRAGMA locking_mode = EXCLUSIVE')
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('BEGIN EXCLUSIVE')
  checkLog(path)
  makeTables(database)
  database.exec('COMMIT')
  database.exec(`PRAGMA synchronous = ${powerSafe === true ? 'FULL' : 'NORMAL'}`)
  database.exec('PRAGMA wal_autocheckpoint = 0')
  database.exec(`PRAGMA max_page_count = ${Math.floor((maxBytes ?? DEFAULT_MAX_FILE_BYTES) / PAGE_BYTES)}`)
  checkStructure(database)
}

/** Must be called while nobody else can write to the log, and before SQLite does. */
function checkLog(path: string): void {
  if (isLogBroken(path)) {
    try {
      copyFileSync(`${path}-wal`, brokenLogOf(path))
    } catch {
      // on a full disk nothing is kept of it, and it is told all the same
    }
    throw new BrokenLog()
  }
  // whoever found it was killed before it told
  if (existsSync(brokenLogOf(path))) throw new BrokenLog()
}

/** Makes the tables in an empty file, and brings those of earlier versions to this one's. */
function makeTables(database: DatabaseSync): void {
  const version = pragma(database, 'user_version')
  const application = pragma(database, 'application_id')
  if (version === 0 && pragma(database, 'schema_version') === 0) {
    database.exec(SCHEMA)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  } else if (application !== APPLICATION_ID) {
    throw new ForeignFile('another program wrote it', hasOurTables(database))
  } else {
    for (let from = version; from !== SCHEMA_VERSION; from++) {
      const upgrade = UPGRADES[from]
      if (upgrade === undefined)
        throw new ForeignFile(`schema version ${version}`, !(version >= 0 && version < MAX_SCHEMA_VERSION))
      database.exec(upgrade)
    }
    if (version === SCHEMA_VERSION) return
  }
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

/** True for a file that has our tables under another program's number: that number is what is broken. */
function hasOurTables(database: DatabaseSync): boolean {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const names = new Set(tables.map(({ name }) => name))
  return ['head', 'entry', 'pruned_tombstone'].every((name) => names.has(name))
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}

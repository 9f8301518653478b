/** The rows of a ledger's file, and what is made of them. */
import type { DatabaseSync } from 'node:sqlite'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import type { BlockHead } from '../snapshot.ts'
import type { PrunedTombstone } from '../state/store.ts'
import { ForeignFile } from './store-errors.ts'

/** Values in the order of the query's columns. */
type Row = readonly unknown[]

/**
 * Throws where pages of the file do not fit each other; about 1 ms for each MiB. What the rows hold is checked against their
 * fingerprint by whoever reads them.
 */
export function checkStructure(database: DatabaseSync): void {
  const check = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
  if (check !== 'ok') throw new ForeignFile(text(check), true)
}

/** The block that the file ends with, and the fingerprint of its entries; undefined in a fresh file. */
export function readStoredHead(database: DatabaseSync) {
  const [head] = rowsOf(database, 'SELECT block, timestamp, hash, prev_hash, fingerprint FROM head', readHead)
  return head
}

/** Row by row, so that only what is made of the rows stays. */
export function storedEntries(database: DatabaseSync): IterableIterator<KeyedEntry> {
  const share = createSharing()
  return rowsOf(
    database,
    'SELECT bucket, key, value, owner, version, updated_at, deleted, sig FROM entry',
    (row) => readEntry(row, share),
  )
}

/** The collected tombstones, oldest first. */
export function storedPruned(database: DatabaseSync): IterableIterator<PrunedTombstone> {
  return rowsOf(database, 'SELECT hash, version FROM pruned_tombstone ORDER BY sequence', readPruned)
}

function* rowsOf<T>(database: DatabaseSync, query: string, read: (row: Row) => T): Generator<T> {
  const statement = database.prepare(query)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  for (const row of statement.iterate()) yield read(row as unknown as Row)
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
export function toSigned(version: bigint): bigint {
  return BigInt.asIntN(64, version)
}

function toUnsigned(value: unknown): bigint {
  return BigInt.asUintN(64, typeof value === 'bigint' ? value : 0n)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

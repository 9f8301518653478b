/** The ledger's order: by bucket, then key, both by UTF-16 code units. */
import { BUCKETS } from '@mesh/core'
import type { Entry, KeyedEntry, Position, PositionRange, Snapshot } from '@mesh/ledger'
import { SHORT_HASH_BYTES } from '../limits.ts'

export const WHOLE_LEDGER: PositionRange = { from: undefined, to: undefined }

export const HEARTBEATS: PositionRange = {
  from: { bucket: BUCKETS.healthcheck, key: '' },
  to: { bucket: `${BUCKETS.healthcheck}\0`, key: '' },
}

export function comparePositions(a: Position, b: Position): number {
  if (a.bucket !== b.bucket) return a.bucket < b.bucket ? -1 : 1
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}

/** False for a range that ends where, or before, it begins. */
export function isRange({ from, to }: PositionRange): boolean {
  return from === undefined || to === undefined || comparePositions(from, to) < 0
}

/** Entries never change, so that a hash that was looked up stays right. */
const shortHashes = new WeakMap<Entry, Uint8Array>()

/** The short hash of a stored entry: the fingerprint of a range with just that one. */
export function shortHashOf(snapshot: Snapshot, { bucket, key, entry }: KeyedEntry): Uint8Array {
  const known = shortHashes.get(entry)
  if (known !== undefined) return known
  const range = { from: { bucket, key }, to: { bucket, key: `${key}\0` } }
  const hash = snapshot.summarize(range).fingerprint.slice(0, SHORT_HASH_BYTES)
  shortHashes.set(entry, hash)
  return hash
}

/** FNV-1a 32 over UTF-16 code units (ids are ASCII, so these are their bytes). */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

export function listItem(snapshot: Snapshot, keyed: KeyedEntry) {
  const { bucket, key, entry } = keyed
  return {
    bucket,
    key,
    version: entry.version,
    hash: shortHashOf(snapshot, keyed),
    ownerTag: fnv1a32(entry.owner),
    deleted: entry.deleted,
  }
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

/** A text for use as a map's key. */
export function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0')
  return text
}

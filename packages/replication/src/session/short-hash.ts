import { createMemo, fnv1a32 } from '@mesh/core'
import type { Entry, KeyedEntry, Snapshot } from '@mesh/ledger'
import { SHORT_HASH_BYTES } from '../limits.ts'

/** Entries never change, so that a hash that was looked up stays right. */
const shortHashes = createMemo<Entry, Uint8Array>()

/** The short hash of a stored entry: the fingerprint of a range with just that one. */
export function shortHashOf(snapshot: Snapshot, { bucket, key, entry }: KeyedEntry): Uint8Array {
  const known = shortHashes.get(entry)
  if (known !== undefined) return known
  const range = { from: { bucket, key }, to: { bucket, key: `${key}\0` } }
  const hash = snapshot.summarize(range).fingerprint.slice(0, SHORT_HASH_BYTES)
  shortHashes.set(entry, hash)
  return hash
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

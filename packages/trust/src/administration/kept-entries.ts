/**
 * Names what stays of the entries of a peer that was shut out. Versions are dated by who writes them, so a revocation names the
 * entries that stay, by their hashes: what the administrator's node held of the peer at that moment. All else of the peer
 * counts nowhere, whatever its date says and whoever heard it first.
 */
import { defaultPolicies, entryHash, type KeyedEntry } from '@mesh/ledger'
import { KEPT_HASH_BYTES, MAX_KEPT_ENTRIES } from '../limits.ts'
import { fromHex, toBase64url, toHex, tryFromBase64url } from './encodings.ts'

/** The entries that a revocation names: their hashes, as hexadecimal digits. */
export type KeptEntries = ReadonlySet<string>

/**
 * Picks what stays of a peer when it is shut out, of its entries that count. Buckets whose entries end with their owner's
 * heartbeats are left out: a peer that is out is not alive. Of more entries than a statement can name the oldest stay.
 */
export function pickKept(entries: Iterable<KeyedEntry>, counts: (keyed: KeyedEntry) => boolean): KeptEntries {
  const found: KeyedEntry[] = []
  for (const keyed of entries) {
    if (!Object.hasOwn(defaultPolicies, keyed.bucket) && counts(keyed)) found.push(keyed)
  }
  found.sort(({ entry: { version: a } }, { entry: { version: b } }) => Number(a > b) - Number(a < b))
  return new Set(found.slice(0, MAX_KEPT_ENTRIES).map(nameOf))
}

export function hasEntry(kept: KeptEntries, keyed: KeyedEntry): boolean {
  return kept.has(nameOf(keyed))
}

/** Base64url of the hashes one behind the other, in order. */
export function formatKept(kept: KeptEntries): string {
  return toBase64url(fromHex([...kept].sort().join('')))
}

/** Undefined for what is no such text. */
export function parseKept(text: unknown): KeptEntries | undefined {
  if (typeof text !== 'string') return undefined
  const bytes = tryFromBase64url(text)
  if (bytes === undefined || bytes.length % KEPT_HASH_BYTES !== 0) return undefined
  const kept = new Set<string>()
  for (let at = 0; at < bytes.length; at += KEPT_HASH_BYTES) {
    kept.add(toHex(bytes.subarray(at, at + KEPT_HASH_BYTES)))
  }
  return kept
}

function nameOf(keyed: KeyedEntry): string {
  return toHex(entryHash(keyed).subarray(0, KEPT_HASH_BYTES))
}

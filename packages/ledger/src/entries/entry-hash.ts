/** An entry's hash: what range fingerprints add up, and what replication calls an entry by. */
import { canonicalBytesWithSig } from './canonical.ts'
import type { KeyedEntry } from './entry.ts'
import { hashLimbs, limbsToBytes } from './fingerprint.ts'

/** SHA-256 over the signed bytes and the signature, 32 bytes. */
export function entryHash(keyed: KeyedEntry): Uint8Array {
  return limbsToBytes(hashLimbs(canonicalBytesWithSig(keyed).bytes))
}

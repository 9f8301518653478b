/** Checks what an entry may look like at all, by whichever way it came. */
import { utf8Length } from './utf8-length.ts'
import type { KeyedEntry } from './entry.ts'
import {
  MAX_BUCKET_BYTES,
  MAX_KEY_BYTES,
  MAX_OWNER_BYTES,
  MAX_VALUE_BYTES,
  MAX_VERSION,
  SIGNATURE_BYTES,
} from '../limits.ts'

/** Why it cannot be stored or even signed; undefined when it can. */
export function checkBounds({ bucket, key, entry }: KeyedEntry): 'MALFORMED' | 'TOO_LARGE' | undefined {
  const { value, owner, version, updatedAt, sig } = entry
  const fits =
    isWithin(bucket, MAX_BUCKET_BYTES) &&
    isWithin(key, MAX_KEY_BYTES) &&
    isWithin(value, MAX_VALUE_BYTES) &&
    isWithin(owner, MAX_OWNER_BYTES)
  if (!fits) return 'TOO_LARGE'
  const readable =
    version >= 0n &&
    version <= MAX_VERSION &&
    Number.isSafeInteger(updatedAt) &&
    (sig === null || sig.length <= SIGNATURE_BYTES) &&
    // Lone surrogates would share their bytes with U+FFFD.
    [bucket, key, value, owner].every((text) => text.isWellFormed())
  return readable ? undefined : 'MALFORMED'
}

function isWithin(text: string, most: number): boolean {
  return 3 * text.length <= most || (text.length <= most && utf8Length(text) <= most)
}

/** Which keys stand in the bucket `trustzoneAuth`: pure, from a snapshot. */
import type { KeyObject } from 'node:crypto'
import { BUCKETS } from '@mesh/core'
import type { Entry, Snapshot } from '@mesh/ledger'
import { tryParsePublicKey } from '../legacy/ecdsa-keys.ts'
import { AUTH_KEYS_READ_AT_ONCE, ECDSA_KEY_MARK, MAX_AUTH_KEYS } from '../limits.ts'

type Entries = Pick<Snapshot, 'entries'>

const parsed = new WeakMap<Entry, KeyObject | undefined>()

/**
 * Gives the public keys, at most `MAX_AUTH_KEYS`; what is none is passed over. The bucket is open: of entries that were not read
 * before few are read at a time, and those behind them with the next question.
 */
export function readAuthKeys(snapshot: Entries): readonly KeyObject[] {
  const keys: KeyObject[] = []
  let read = 0
  for (const { key, entry } of snapshot.entries(BUCKETS.trustzoneAuth)) {
    if (entry.deleted || !key.includes(ECDSA_KEY_MARK)) continue
    if (!parsed.has(entry)) {
      if (read++ === AUTH_KEYS_READ_AT_ONCE) break
      parsed.set(entry, tryParsePublicKey(textOf(entry)))
    }
    const found = parsed.get(entry)
    if (found !== undefined && keys.push(found) === MAX_AUTH_KEYS) break
  }
  return keys
}

function textOf({ value }: Entry): string {
  try {
    const text: unknown = JSON.parse(value)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}

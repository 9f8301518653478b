/** Makes an entry of the bucket `admission` with whatever key the statement needs. */
import { BUCKETS } from '@mesh/core'
import { canonicalBytes, type Entry, type KeyedEntry, type Signer } from '@mesh/ledger'

const NANOS_PER_MS = 1_000_000n

export interface StatementInit {
  readonly key: string
  readonly valueText: string
  /** The entry that the ledger holds of the key: the new version is above it. */
  readonly existing: Entry | undefined
  /** Unix time in ms. */
  readonly nowMs: number
  /** Default: the time, in nanoseconds. */
  readonly version?: bigint | undefined
}

export function signStatement(
  { key, valueText, existing, nowMs, version }: StatementInit,
  signer: Signer,
): KeyedEntry {
  const now = BigInt(Math.floor(nowMs)) * NANOS_PER_MS
  const least = existing === undefined ? 0n : existing.version + 1n
  const entry: Entry = {
    value: valueText,
    owner: signer.peerId,
    version: version ?? (now > least ? now : least),
    updatedAt: Math.floor(nowMs / 1000),
    deleted: false,
    sig: null,
  }
  const unsigned: KeyedEntry = { bucket: BUCKETS.admission, key, entry }
  // what is signed stands in a buffer of the ledger's that the next call overwrites
  const sig = signer.sign(canonicalBytes(unsigned).slice())
  return { ...unsigned, entry: { ...entry, sig } }
}

/**
 * The bytes that are signed (docs/WIRE.md 4.3):
 * L(bucket) L(key) L(owner) u64be(version) u64be(updatedAt) deleted L(value), L(x) = u64be length and UTF-8 bytes.
 */
import type { KeyedEntry } from './entry.ts'

/** Five length or number fields of 8 bytes and the deleted flag, and a signature behind them. */
const FIXED_BYTES = 6 * 8 + 1

const encoder = new TextEncoder()

let scratch = new Uint8Array(4096)

let view = new DataView(scratch.buffer)

/** The entry that the buffer holds: one is verified and then hashed, over the same bytes. */
let written: KeyedEntry | undefined

let writtenLength = 0

/** Gives what is signed, as a view into a shared buffer: valid until the next call of this module. */
export function canonicalBytes(keyed: KeyedEntry): Uint8Array {
  // The buffer may be another one after writing.
  const length = writeCanonical(keyed)
  return scratch.subarray(0, length)
}

/**
 * Gives what is signed, and the signature behind it; a view as `canonicalBytes`. Two entries are equal when
 * these are.
 */
export function canonicalBytesWithSig(keyed: KeyedEntry): { bytes: Uint8Array; signedLength: number } {
  const signedLength = writeCanonical(keyed)
  const { sig } = keyed.entry
  if (sig !== null) scratch.set(sig, signedLength)
  return { bytes: scratch.subarray(0, signedLength + (sig?.length ?? 0)), signedLength }
}

function writeCanonical(keyed: KeyedEntry): number {
  if (keyed === written) return writtenLength
  const { bucket, key, entry } = keyed
  const most =
    3 * (bucket.length + key.length + entry.owner.length + entry.value.length) +
    FIXED_BYTES +
    (entry.sig?.length ?? 0)
  if (most > scratch.length) {
    scratch = new Uint8Array(2 * most)
    view = new DataView(scratch.buffer)
  }
  let at = writeText(bucket, 0)
  at = writeText(key, at)
  at = writeText(entry.owner, at)
  view.setBigUint64(at, entry.version)
  view.setBigInt64(at + 8, BigInt(entry.updatedAt))
  scratch[at + 16] = entry.deleted ? 1 : 0
  written = keyed
  writtenLength = writeText(entry.value, at + 17)
  return writtenLength
}

function writeText(text: string, at: number): number {
  const length = encoder.encodeInto(text, scratch.subarray(at + 8)).written
  view.setUint32(at, 0)
  view.setUint32(at + 4, length)
  return at + 8 + length
}

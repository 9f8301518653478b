/** Entries as members write them, for the measures. */
import { canonicalBytes } from '../src/entries/canonical.ts'
import type { KeyedEntry } from '../src/entries/entry.ts'
import type { Signer } from '../src/entries/signer.ts'

export function seedOf(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte)
}

/** About 256 signed bytes each, in a bucket that needs signatures. */
export function signedEntries(signer: Signer, count: number): KeyedEntry[] {
  const nowMs = performance.timeOrigin
  return Array.from({ length: count }, (_, n) => {
    const value = JSON.stringify({ 1: `10.1.${n >> 8}.${n & 255}`, 16: 'x'.repeat(80) })
    const unsigned = {
      bucket: 'dns',
      key: `^host-${n}\\.vpn\\.$`,
      entry: {
        value,
        owner: signer.peerId,
        version: BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(n),
        updatedAt: Math.floor(nowMs / 1000),
        deleted: false,
        sig: null,
      },
    }
    return { ...unsigned, entry: { ...unsigned.entry, sig: signer.sign(canonicalBytes(unsigned)) } }
  })
}

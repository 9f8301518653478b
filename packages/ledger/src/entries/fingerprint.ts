/**
 * Sums of SHA-256 hashes modulo 2^256, kept up to date by adding and subtracting: equal sets have equal sums in
 * whatever order they grew. A sum is eight 32-bit limbs, the least significant first.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { canonicalBytesWithSig } from './canonical.ts'
import type { KeyedEntry } from './entry.ts'

export const LIMBS = 8

/** Adds `from[fromAt..]` to `sum[at..]` in place. */
export function addLimbs(sum: Uint32Array, at: number, from: Uint32Array, fromAt: number): void {
  let carry = 0
  for (let limb = 0; limb < LIMBS; limb++) {
    const total = (sum[at + limb] ?? 0) + (from[fromAt + limb] ?? 0) + carry
    sum[at + limb] = total
    carry = total > 0xffff_ffff ? 1 : 0
  }
}

/** Subtracts `from[fromAt..]` from `sum[at..]` in place. */
export function subtractLimbs(sum: Uint32Array, at: number, from: Uint32Array, fromAt: number): void {
  let borrow = 0
  for (let limb = 0; limb < LIMBS; limb++) {
    const rest = (sum[at + limb] ?? 0) - (from[fromAt + limb] ?? 0) - borrow
    sum[at + limb] = rest
    borrow = rest < 0 ? 1 : 0
  }
}

/** An entry's hash, SHA-256 over the signed bytes and the signature, as limbs: what range fingerprints add up. */
export function entryLimbs(keyed: KeyedEntry): Uint32Array {
  const hash = sha256(canonicalBytesWithSig(keyed).bytes)
  const limbs = new Uint32Array(LIMBS)
  for (let limb = 0; limb < LIMBS; limb++) {
    const at = 4 * (LIMBS - 1 - limb)
    limbs[limb] =
      ((hash[at] ?? 0) << 24) | ((hash[at + 1] ?? 0) << 16) | ((hash[at + 2] ?? 0) << 8) | (hash[at + 3] ?? 0)
  }
  return limbs
}

/** 32 bytes, the most significant first. */
export function limbsToBytes(limbs: Uint32Array, at = 0): Uint8Array {
  const bytes = new Uint8Array(4 * LIMBS)
  const view = new DataView(bytes.buffer)
  for (let limb = 0; limb < LIMBS; limb++) view.setUint32(4 * (LIMBS - 1 - limb), limbs[at + limb] ?? 0)
  return bytes
}

export function limbsToHex(limbs: Uint32Array, at = 0): string {
  return bytesToHex(limbsToBytes(limbs, at))
}

/** The same hash as 32 bytes: what replication calls an entry by. */
export function entryHash(keyed: KeyedEntry): Uint8Array {
  return limbsToBytes(entryLimbs(keyed))
}

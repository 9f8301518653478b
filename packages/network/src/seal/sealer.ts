/** How members seal what they say: hex of nonce, ciphertext and tag (docs/WIRE.md 3.2). */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { NetworkSecrets } from '../secrets/network-secrets.ts'
import type { SealCipher } from './seal-cipher.ts'

/** The length of a seal's nonce, which the wire fixes. */
export const SEAL_NONCE_BYTES = 12
/** The length of a seal's tag, which the wire fixes. */
export const SEAL_TAG_BYTES = 16
const SHORTEST_HEX = (SEAL_NONCE_BYTES + SEAL_TAG_BYTES) * 2

/** How many digits are read at once, so that a long message makes no text that outlives a collection of young objects. */
const DIGITS_AT_ONCE = 16 * 1024

/** The length in characters of a sealed message with so many bytes: sealing adds nonce and tag, and hex doubles all. */
export function sealedLength(plaintextBytes: number): number {
  return SHORTEST_HEX + plaintextBytes * 2
}

/** Seals and opens messages with the keys of their windows. */
export interface Sealer {
  /** Seals for one window; `nonce` must be a fresh one for each message. */
  seal(plaintext: Uint8Array, window: number, nonce: Uint8Array): string
  /**
   * Opens what was sealed in the current, the previous or the next window, so that clocks may differ and messages
   * may cross a boundary. Gives undefined when none of their keys fits.
   * @param sealedHex the text, or its characters as bytes of ASCII, as they stand in an envelope
   */
  unseal(sealedHex: string | Uint8Array, nowMs: number): Unsealed | undefined
}

/** A message that was opened. */
export interface Unsealed {
  readonly plaintext: Uint8Array
  /** The window with whose key it was sealed. */
  readonly window: number
}

/** Creates the sealer of one network. */
export function createSealer(secrets: NetworkSecrets, cipher: SealCipher): Sealer {
  return {
    seal(plaintext, window, nonce) {
      const sealed = cipher.seal(secrets.ofWindow(window).sealKey, nonce, plaintext)
      return bytesToHex(nonce) + bytesToHex(sealed)
    },
    unseal(sealedHex, nowMs) {
      const bytes = decodeHex(sealedHex)
      if (bytes === undefined) return undefined
      const nonce = bytes.subarray(0, SEAL_NONCE_BYTES)
      const sealed = bytes.subarray(SEAL_NONCE_BYTES)
      const current = secrets.windowAt(nowMs)
      for (const window of [current, current - 1, current + 1]) {
        const plaintext = cipher.open(secrets.ofWindow(window).sealKey, nonce, sealed)
        if (plaintext !== undefined) return { plaintext, window }
      }
      return undefined
    },
  }
}

function decodeHex(hex: string | Uint8Array): Uint8Array | undefined {
  if (hex.length < SHORTEST_HEX || hex.length % 2 !== 0) return undefined
  const bytes = new Uint8Array(hex.length / 2)
  try {
    for (let at = 0; at < hex.length; at += DIGITS_AT_ONCE) {
      const end = at + DIGITS_AT_ONCE
      const digits = typeof hex === 'string' ? hex.slice(at, end) : ascii.decode(hex.subarray(at, end))
      bytes.set(hexToBytes(digits), at / 2)
    }
    return bytes
  } catch {
    return undefined
  }
}

const ascii = new TextDecoder()

/** How members seal what they say: hex of nonce, ciphertext and tag (docs/WIRE.md 3.2). */
import { bytesToHex } from '@noble/hashes/utils.js'
import type { NetworkSecrets } from '../secrets/network-secrets.ts'
import type { SealCipher } from './seal-cipher.ts'

/** The length of a seal's nonce, which the wire fixes. */
export const SEAL_NONCE_BYTES = 12
/** The length of a seal's tag, which the wire fixes. */
export const SEAL_TAG_BYTES = 16
/** How long a sealed text is whose bytes are freed when it was opened, in bytes. */
const LEAST_FREED_BYTES = 64 * 1024
const SHORTEST_HEX = (SEAL_NONCE_BYTES + SEAL_TAG_BYTES) * 2

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
   *
   * @param sealedHex the text, or its bytes: of the longest messages no text is made
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
      const bytes = decodeHex(typeof sealedHex === 'string' ? encoder.encode(sealedHex) : sealedHex)
      if (bytes === undefined) return undefined
      const nonce = bytes.subarray(0, SEAL_NONCE_BYTES)
      const sealed = bytes.subarray(SEAL_NONCE_BYTES)
      const current = secrets.windowAt(nowMs)
      try {
        for (const window of [current, current - 1, current + 1]) {
          const plaintext = cipher.open(secrets.ofWindow(window).sealKey, nonce, sealed)
          if (plaintext !== undefined) return { plaintext, window }
        }
        return undefined
      } finally {
        // of a long message 7 MB, which would wait to be collected
        if (bytes.length > LEAST_FREED_BYTES) bytes.buffer.transfer(0)
      }
    },
  }
}

const encoder = new TextEncoder()

/** The value of each hexadecimal digit by its code, and more than any of them for what is none. */
const DIGITS = new Uint8Array(256).fill(0xff)
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16)
  DIGITS[digit.charCodeAt(0)] = value
  DIGITS[digit.toUpperCase().charCodeAt(0)] = value
}

function decodeHex(hex: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (hex.length < SHORTEST_HEX || hex.length % 2 !== 0) return undefined
  const bytes = new Uint8Array(hex.length / 2)
  let all = 0
  for (let at = 0; at < bytes.length; at++) {
    const high = DIGITS[hex[2 * at] as number] as number
    const low = DIGITS[hex[2 * at + 1] as number] as number
    all |= high | low
    bytes[at] = (high << 4) | low
  }
  return all > 0x0f ? undefined : bytes
}

/** How members seal what they say: hex of nonce, ciphertext and tag (docs/WIRE.md 3.2). */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
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
  const windowsAround = (nowMs: number) => {
    const current = secrets.windowAt(nowMs)
    return [current, current - 1, current + 1]
  }
  return {
    seal(plaintext, window, nonce) {
      const sealed = cipher.seal(secrets.ofWindow(window).sealKey, nonce, plaintext)
      return bytesToHex(nonce) + bytesToHex(sealed)
    },
    unseal(sealedHex, nowMs) {
      const bytes = decodeHex(sealedHex)
      if (bytes === undefined) return undefined
      try {
        for (const window of windowsAround(nowMs)) {
          const plaintext = cipher.open(secrets.ofWindow(window).sealKey, nonceOf(bytes), sealedOf(bytes))
          if (plaintext !== undefined) return { plaintext, window }
        }
        return undefined
      } finally {
        free(bytes)
      }
    },
  }
}

const nonceOf = (bytes: Uint8Array<ArrayBuffer>) => bytes.subarray(0, SEAL_NONCE_BYTES)
const sealedOf = (bytes: Uint8Array<ArrayBuffer>) => bytes.subarray(SEAL_NONCE_BYTES)

/** Frees long ones at once, of which 7 MB would wait to be collected. */
function free(bytes: Uint8Array<ArrayBuffer>): void {
  if (bytes.length > LEAST_FREED_BYTES) bytes.buffer.transfer(0)
}

/** Latin-1: what is no ASCII is no digit either. */
const decoder = new TextDecoder('latin1')

const textOf = (hex: string | Uint8Array) => (typeof hex === 'string' ? hex : decoder.decode(hex))

/** Undefined for what is too short, or no hex. */
function decodeHex(hex: string | Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (hex.length < SHORTEST_HEX) return undefined
  try {
    return hexToBytes(textOf(hex))
  } catch {
    return undefined
  }
}

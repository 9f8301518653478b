/** Sealing as the network does it: hex of nonce, ciphertext and tag (wire document, 3.2). */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import type { NetworkSecrets } from './network-secrets.ts'
import type { SealCipher } from './seal-cipher.ts'

/** Wire. */
export const SEAL_NONCE_BYTES = 12
const TAG_BYTES = 16
const SHORTEST_HEX = (SEAL_NONCE_BYTES + TAG_BYTES) * 2

/** What sealing adds, and that hex doubles everything: characters for so many bytes. */
export function sealedLength(plaintextBytes: number): number {
  return SHORTEST_HEX + plaintextBytes * 2
}

export interface Sealer {
  /** Seals for one window; `nonce` must be fresh for each message. */
  seal(plaintext: Uint8Array, window: number, nonce: Uint8Array): string
  /**
   * Opens what was sealed in the current, the previous or the next window, so that clocks may differ and messages
   * may cross a boundary. Undefined when none of their keys fits.
   */
  unseal(sealedHex: string, nowMs: number): Unsealed | undefined
}

export interface Unsealed {
  readonly plaintext: Uint8Array
  readonly window: number
}

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

function decodeHex(hex: string): Uint8Array | undefined {
  if (hex.length < SHORTEST_HEX || hex.length % 2 !== 0) return undefined
  try {
    return hexToBytes(hex)
  } catch {
    return undefined
  }
}

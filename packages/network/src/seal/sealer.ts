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
/** How much of a long text is read before other work has its turn, in bytes of what it stands for. */
const PIECE_BYTES = 512 * 1024
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
  /**
   * The same for the bytes of a long text, which holds up nothing else: it is read in pieces, and decrypted on another
   * thread where the runtime has Web Crypto.
   *
   * @param pause resolves when other work has had its turn
   */
  unsealLong(sealedHex: Uint8Array, nowMs: number, pause: () => Promise<void>): Promise<Unsealed | undefined>
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
    async unsealLong(sealedHex, nowMs, pause) {
      const bytes = await decodeLongHex(sealedHex, pause)
      if (bytes === undefined) return undefined
      try {
        for (const window of windowsAround(nowMs)) {
          const { sealKey } = secrets.ofWindow(window)
          const plaintext = await openElsewhere(cipher, sealKey, nonceOf(bytes), sealedOf(bytes))
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

/** Decrypts by Web Crypto, which uses another thread, else by the cipher: a page that came over HTTP has none. */
async function openElsewhere(
  cipher: SealCipher,
  sealKey: Uint8Array,
  iv: Uint8Array<ArrayBuffer>,
  sealed: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  if (subtle === undefined) return cipher.open(sealKey, iv, sealed)
  const key = await subtle.importKey('raw', new Uint8Array(sealKey), 'AES-GCM', false, ['decrypt'])
  try {
    return new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed))
  } catch {
    // another key, or changed bytes
    return undefined
  }
}

/** Latin-1: what is no ASCII is no digit either. */
const decoder = new TextDecoder('latin1')

const textOf = (hex: string | Uint8Array) => (typeof hex === 'string' ? hex : decoder.decode(hex))

/** Undefined for what is too short, or no hex. */
function decodeHex(hex: string | Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  return hex.length < SHORTEST_HEX ? undefined : tryHexToBytes(textOf(hex))
}

async function decodeLongHex(
  hex: Uint8Array,
  pause: () => Promise<void>,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (hex.length < SHORTEST_HEX || hex.length % 2 !== 0) return undefined
  const bytes = new Uint8Array(hex.length / 2)
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = tryHexToBytes(textOf(hex.subarray(2 * at, 2 * (at + PIECE_BYTES))))
    if (piece === undefined) return undefined
    bytes.set(piece, at)
    await pause()
  }
  return bytes
}

/** Decodes by the engine itself where it can: a loop over the bytes took up to 200 ms for one piece where its code was not optimised. */
function tryHexToBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return hexToBytes(text)
  } catch {
    return undefined
  }
}

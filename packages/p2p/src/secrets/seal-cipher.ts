import { gcm } from '@noble/ciphers/aes.js'

/** AES-256-GCM without additional data; synchronous, so that a message is judged in one go. */
export interface SealCipher {
  /** @returns ciphertext and its 16-byte tag */
  seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Uint8Array
  /** Undefined when the tag does not fit: another key, or changed bytes. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | undefined
}

/** For browsers; Node has a faster one under `./node`. */
export const portableSealCipher: SealCipher = {
  seal: (key, nonce, plaintext) => gcm(key, nonce).encrypt(plaintext),
  open(key, nonce, sealed) {
    try {
      return gcm(key, nonce).decrypt(sealed)
    } catch {
      return undefined
    }
  },
}

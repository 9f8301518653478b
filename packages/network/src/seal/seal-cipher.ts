import { gcm } from '@noble/ciphers/aes.js'

/** AES-256-GCM without additional data. It is synchronous, so that a message is judged in one go. */
export interface SealCipher {
  /** Encrypts with a 32-byte key and a 12-byte nonce; gives the ciphertext and its 16-byte tag. */
  seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Uint8Array
  /** Decrypts; gives undefined when the tag does not fit: another key, or changed bytes. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | undefined
}

/** The cipher in JavaScript, for browsers; `@mesh/network/node` has a faster one. */
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

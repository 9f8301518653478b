import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { SealCipher } from './seal-cipher.ts'

const TAG_BYTES = 16

/** The cipher by Node's OpenSSL, which uses the processor's AES instructions. */
export const nativeSealCipher: SealCipher = {
  seal(key, nonce, plaintext) {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  },
  open(key, nonce, sealed) {
    if (sealed.length < TAG_BYTES) return undefined
    const end = sealed.length - TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAuthTag(sealed.subarray(end))
    const plaintext = decipher.update(sealed.subarray(0, end))
    try {
      decipher.final()
      return plaintext
    } catch {
      return undefined
    }
  },
}

import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto'

/** The bytes that come before the 32 of an X25519 key in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410). */
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')

const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')

/** Gives the secret that both ends of X25519 share; undefined when the public key is a point of low order. */
export function sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined {
  const key = Buffer.concat([PUBLIC_KEY_PREFIX, publicKey])
  try {
    const secret = diffieHellman({
      privateKey: privateKeyObject(privateKey),
      publicKey: createPublicKey({ key, format: 'der', type: 'spki' }),
    })
    return secret.every((byte) => byte === 0) ? undefined : secret
  } catch {
    // OpenSSL refuses it by itself
    return undefined
  }
}

/** Gives the public key of a private one, 32 bytes each. */
export function publicKeyOf(privateKey: Uint8Array): Buffer {
  const key = createPublicKey(privateKeyObject(privateKey)).export({ format: 'der', type: 'spki' })
  return key.subarray(PUBLIC_KEY_PREFIX.length)
}

function privateKeyObject(privateKey: Uint8Array) {
  return createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_PREFIX, privateKey]),
    format: 'der',
    type: 'pkcs8',
  })
}

/** The cryptography of `/mesh/vpn/1` (docs/PROTOCOLS.md, 'VPN'). Pure: bytes in, bytes out. */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'
import type { PeerId } from '@mesh/core'
import { HASH_BYTES, VPN_PROTOCOL } from './limits.ts'

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

/** One end of an exchange, as both ends know it. */
interface KeyEnd {
  readonly peer: PeerId
  readonly publicKey: Uint8Array
  readonly nonce: Uint8Array
}

/** Proof that `prover` holds the private key of its public key, for `verifier` and this exchange only. 32 bytes. */
export function buildKeyProof(secret: Uint8Array, prover: KeyEnd, verifier: KeyEnd): Uint8Array {
  const [first, second] = prover.peer < verifier.peer ? [prover, verifier] : [verifier, prover]
  const salt = Buffer.concat([first.nonce, second.nonce])
  const key = Buffer.from(hkdfSync('sha256', secret, salt, 'mesh vpn key 1', HASH_BYTES))
  return createHmac('sha256', key)
    .update(framed(VPN_PROTOCOL, prover.peer, verifier.peer))
    .update(first.publicKey)
    .update(second.publicKey)
    .digest()
}

/** Compares two proofs in constant time. */
export function isKeyProof(expected: Uint8Array, given: Uint8Array): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** The 32 bytes that two members know besides their keys: a stolen key of one is of no use outside. */
export function derivePresharedKey(networkKey: string, a: PeerId, b: PeerId): Uint8Array {
  const salt = a < b ? framed(a, b) : framed(b, a)
  return new Uint8Array(hkdfSync('sha256', networkKey, salt, 'mesh wg psk 1', HASH_BYTES))
}

/** Each text as an 8-byte big-endian length and its UTF-8, which docs/PROTOCOLS.md calls `L(text)`. */
export function framed(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text)
      const length = Buffer.alloc(8)
      length.writeBigUInt64BE(BigInt(bytes.length))
      return [length, bytes]
    }),
  )
}

function privateKeyObject(privateKey: Uint8Array) {
  return createPrivateKey({
    key: Buffer.concat([PRIVATE_KEY_PREFIX, privateKey]),
    format: 'der',
    type: 'pkcs8',
  })
}

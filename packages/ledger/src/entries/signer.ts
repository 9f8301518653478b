/** Signing and verifying Ed25519 in plain JavaScript, for browsers; `./node` has the faster twin. */
import { type PeerId, peerIdFromPublicKey, publicKeyOf } from '@mesh/core'
import { getPublicKey, hashes, sign, verify } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

/** Signs as one peer. */
export interface Signer {
  readonly peerId: PeerId
  /** A plain Ed25519 signature, 64 bytes. `bytes` are only borrowed. */
  sign(bytes: Uint8Array): Uint8Array
}

/**
 * True when `sig` is `peer`'s signature over `bytes`, which are only borrowed. Never throws for what they
 * contain.
 */
export type Verify = (peer: PeerId, bytes: Uint8Array, sig: Uint8Array) => boolean

/** @param seed the raw Ed25519 private key, 32 bytes */
export function createSigner(seed: Uint8Array): Signer {
  bringHash()
  const key = seed.slice()
  return {
    peerId: peerIdFromPublicKey(getPublicKey(key)),
    sign: (bytes) => sign(bytes, key),
  }
}

/** Verifies in plain JavaScript. Refuses public keys of low order and encodings that are not canonical. */
export const verifySignature: Verify = (peer, bytes, sig) => {
  bringHash()
  try {
    return verify(sig, bytes, publicKeyOf(peer), { zip215: false })
  } catch {
    return false
  }
}

/** The library brings no hash of its own. Not at the top level, where it would keep bundlers from leaving this out. */
function bringHash(): void {
  hashes.sha512 ??= sha512
}

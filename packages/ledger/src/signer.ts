/** Signing and verifying Ed25519 in plain JavaScript, for browsers; `./node` has the faster twin. */
import { type PeerId, peerIdFromPublicKey, publicKeyOf } from '@mesh/core'
import { ed25519 } from '@noble/curves/ed25519.js'

/** Signs as one peer. */
export interface Signer {
  readonly peerId: PeerId
  /** A plain Ed25519 signature, 64 bytes. `bytes` are only borrowed. */
  sign(bytes: Uint8Array): Uint8Array
}

/** Whether `sig` is `peer`'s signature over `bytes`, which are only borrowed. Never throws for what they contain. */
export type Verify = (peer: PeerId, bytes: Uint8Array, sig: Uint8Array) => boolean

/** @param seed the raw Ed25519 private key, 32 bytes */
export function createSigner(seed: Uint8Array): Signer {
  const key = seed.slice()
  return {
    peerId: peerIdFromPublicKey(ed25519.getPublicKey(key)),
    sign: (bytes) => ed25519.sign(bytes, key),
  }
}

export const verifySignature: Verify = (peer, bytes, sig) => {
  try {
    return ed25519.verify(sig, bytes, publicKeyOf(peer), { zip215: false })
  } catch {
    return false
  }
}

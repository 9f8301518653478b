/** Ed25519 by node:crypto: the same bytes as the plain twin, ten times as fast. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { BoundedMap, type PeerId, peerIdFromPublicKey, publicKeyOf } from '@mesh/core'
import { MAX_CACHED_KEYS } from '../limits.ts'
import type { Signer, Verify } from '../entries/signer.ts'

/** DER before the 32 bytes of an Ed25519 private key (PKCS #8) and public key (SPKI). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** @param seed the raw Ed25519 private key, 32 bytes */
export function createNodeSigner(seed: Uint8Array): Signer {
  if (seed.length !== 32) throw new RangeError('an Ed25519 seed has 32 bytes')
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    peerId: peerIdFromPublicKey(der.subarray(PUBLIC_PREFIX.length)),
    sign: (bytes) => new Uint8Array(sign(null, bytes, key)),
  }
}

/** Keeps the parsed keys of the peers heard last. */
export function createNodeVerifier(): Verify {
  const keys = new BoundedMap<PeerId, KeyObject>(MAX_CACHED_KEYS)
  const keyOf = (peer: PeerId): KeyObject => {
    const known = keys.get(peer)
    if (known !== undefined) {
      keys.set(peer, known)
      return known
    }
    const key = createPublicKey({
      key: Buffer.concat([PUBLIC_PREFIX, publicKeyOf(peer)]),
      format: 'der',
      type: 'spki',
    })
    keys.set(peer, key)
    return key
  }
  return (peer, bytes, sig) => {
    try {
      return verify(null, bytes, keyOf(peer), sig)
    } catch {
      return false
    }
  }
}

/** The key whose public half is the node's name. */
import { generateKeyPairFromSeed, privateKeyFromRaw } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { MeshError } from '@mesh/core'

/**
 * @param bytes Ed25519: the 32-byte seed, or seed and public key together (64 bytes)
 * @throws MeshError `p2p.bad_identity`
 */
export async function parseIdentity(bytes: Uint8Array): Promise<Ed25519PrivateKey> {
  try {
    if (bytes.length === 32) return await generateKeyPairFromSeed('Ed25519', bytes)
    const key = privateKeyFromRaw(bytes)
    if (key.type === 'Ed25519') return key
  } catch (cause) {
    throw badIdentity(bytes.length, cause)
  }
  throw badIdentity(bytes.length)
}

function badIdentity(length: number, cause?: unknown): MeshError {
  return new MeshError('p2p.bad_identity', `not an Ed25519 key: ${length} bytes`, {
    cause,
    hint: 'An identity is the 32-byte seed, or the 64 bytes of seed and public key.',
  })
}

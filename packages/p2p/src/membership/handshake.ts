/**
 * Proof that both ends of a connection hold the network's key, without telling it (docs/PROTOCOLS.md, 'Member: `/mesh/member/1`').
 * Pure: bytes in, bytes out.
 *
 * 1. initiator -> responder: its nonce
 * 2. responder -> initiator: its own nonce and its proof
 * 3. initiator -> responder: its proof
 *
 * A proof covers the protocol, both peer ids (which libp2p has already authenticated), both nonces and the side, so
 * that one from another connection, another peer or the other side does not fit.
 */
import type { PeerId } from '@mesh/core'
import { frameTexts, type NetworkConfig } from '@mesh/network'
import { hkdf } from '@noble/hashes/hkdf.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { MEMBER_PROTOCOL } from '../protocols.ts'

/** The two ends as they stand in one handshake. */
interface Handshake {
  readonly initiator: PeerId
  readonly responder: PeerId
  readonly initiatorNonce: Uint8Array
  readonly responderNonce: Uint8Array
}

/** Derives the 32 bytes that only members can derive. */
export function deriveMemberKey(config: NetworkConfig): Uint8Array {
  const secret = frameTexts(config.crypto.key, config.room)
  return hkdf(sha256, secret, undefined, new TextEncoder().encode('mesh member 1'), 32)
}

export function buildProof(
  memberKey: Uint8Array,
  side: 'initiator' | 'responder',
  { initiator, responder, initiatorNonce, responderNonce }: Handshake,
): Uint8Array {
  return hmac
    .create(sha256, memberKey)
    .update(frameTexts(MEMBER_PROTOCOL, initiator, responder))
    .update(initiatorNonce)
    .update(responderNonce)
    .update(frameTexts(side))
    .digest()
}

/** Compares two proofs in constant time. */
export function isProof(expected: Uint8Array, given: Uint8Array): boolean {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let at = 0; at < expected.length; at++) difference |= (expected[at] ?? 0) ^ (given[at] ?? 0)
  return difference === 0
}

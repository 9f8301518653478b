/** The cryptography of `/mesh/vpn/1` (docs/PROTOCOLS.md, 'VPN'). Pure: bytes in, bytes out. */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { PeerId } from '@mesh/core'
import { HASH_BYTES, VPN_PROTOCOL } from '../wire/limits.ts'

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

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** Each text as an 8-byte big-endian length and its UTF-8, which docs/PROTOCOLS.md calls `L(text)`. */
function framed(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text)
      const length = Buffer.alloc(8)
      length.writeBigUInt64BE(BigInt(bytes.length))
      return [length, bytes]
    }),
  )
}

/** The keys of the probes between two peers, one for each direction. */
export interface ProbeKeys {
  readonly send: Uint8Array
  readonly receive: Uint8Array
}

/** @param secrets 32 bytes of each end, which travelled on the control stream between the two */
export function deriveProbeKeys(
  { self, peer }: { readonly self: PeerId; readonly peer: PeerId },
  { own, theirs }: { readonly own: Uint8Array; readonly theirs: Uint8Array },
): ProbeKeys {
  const secret = self < peer ? Buffer.concat([own, theirs]) : Buffer.concat([theirs, own])
  const salt = self < peer ? framed(self, peer) : framed(peer, self)
  const key = (sender: PeerId) => {
    const info = Buffer.concat([Buffer.from('mesh path 1'), framed(sender)])
    return new Uint8Array(hkdfSync('sha256', secret, salt, info, 32))
  }
  return { send: key(self), receive: key(peer) }
}

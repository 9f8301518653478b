/**
 * The IPv6 address that each node has without asking anybody. The unique local prefix comes from the network's secrets, the host
 * part from the peer id (docs/PROTOCOLS.md, 'Derived IPv6').
 */
import { type AddressInRange, type Cidr, parseCidr, type PeerId } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import { addressOf } from '../wire/address-bytes.ts'
import { prefixOf } from './prefix.ts'

const PREFIX_LENGTH = 64

/** The network's prefix: `fd`, the first 5 bytes of SHA-256 over `mesh6`, key and room as one text, subnet 0. */
export function deriveIpv6Range({ key, room }: { readonly key: string; readonly room: string }): Cidr {
  const globalId = sha256(new TextEncoder().encode(`mesh6${key}${room}`)).subarray(0, 5)
  return parseCidr(`${addressOf([0xfd, ...globalId, 0, 0, ...new Uint8Array(8)])}/${PREFIX_LENGTH}`)
}

/** A peer's address in the network's prefix. @param range from `deriveIpv6Range` */
export function deriveIpv6(range: Cidr, peer: PeerId): AddressInRange {
  const { bytes: network } = prefixOf(range)
  const host = sha256(new TextEncoder().encode(peer)).subarray(0, 8)
  return { address: addressOf([...network.slice(0, 8), ...host]), range, prefixLength: PREFIX_LENGTH }
}

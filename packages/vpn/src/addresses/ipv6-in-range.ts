/** An IPv6 address of a range for whom nobody chose one. */
import { type Cidr, type IpAddress, parseIp } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import ipaddr from 'ipaddr.js'
import { hostsOf } from './ip-math.ts'

const TRIES = 64

/**
 * Gives an address that follows from the text, so that it is another one for each; undefined: those that were tried are
 * used.
 * @param range IPv6
 */
export function ipv6InRange(range: Cidr, text: string, used: ReadonlySet<IpAddress>): IpAddress | undefined {
  const { first, last } = hostsOf(range)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const digest = sha256(new TextEncoder().encode(`${attempt}${text}`)).subarray(0, 16)
    const drawn = digest.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
    const address = ipv6Of(first + (drawn % (last - first + 1n)))
    if (!used.has(address)) return address
  }
  return undefined
}

function ipv6Of(number: bigint): IpAddress {
  const bytes = Array.from({ length: 16 }, (_, at) => Number((number >> BigInt(8 * (15 - at))) & 0xffn))
  return parseIp(ipaddr.fromByteArray(bytes).toString())
}

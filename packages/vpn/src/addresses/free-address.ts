/** Which address of a range is free: pure, and as fast for a /8 as for a /24. */
import { type Cidr, cidrContains, type IpAddress } from '@mesh/core'
import { sha256 } from '@noble/hashes/sha2.js'
import { addressOf } from '../wire/address-bytes.ts'
import { hostsOf, ipv4Of, numberOf, prefixLengthOf } from './ip-math.ts'

/** Every legacy node takes its range for a /24, so that .0 and .255 end it. */
const LEGACY_PREFIX_LENGTH = 24

/** True for an address of a host, which no member takes for the address of a network or for broadcast. */
export function isLeasable(range: Cidr, address: IpAddress): boolean {
  if (!cidrContains(range, address)) return false
  const { first, last } = hostsOf(range)
  const number = numberOf(address)
  return number >= first && number <= last && !isEdge(range, number)
}

/**
 * The free address after `skip` others, counted round and round where there are not so many; undefined when all are
 * used. Takes time for the used and skipped ones only.
 * @param range IPv4
 */
export function freeAddress(range: Cidr, used: ReadonlySet<IpAddress>, skip = 0): IpAddress | undefined {
  const free: IpAddress[] = []
  const { first, last } = hostsOf(range)
  for (let number = first; number <= last && free.length <= skip; number++) {
    if (isEdge(range, number)) continue
    const address = ipv4Of(number)
    if (!used.has(address)) free.push(address)
  }
  return free[skip % free.length]
}

/** The number of addresses of the range that can be leased. */
export function countLeasable(range: Cidr): number {
  const { first, last } = hostsOf(range)
  const hosts = Number(last - first) + 1
  if (prefixLengthOf(range) >= LEGACY_PREFIX_LENGTH) return hosts
  return 254 * 2 ** (LEGACY_PREFIX_LENGTH - prefixLengthOf(range))
}

function isEdge(range: Cidr, number: bigint): boolean {
  const octet = number & 0xffn
  return prefixLengthOf(range) < LEGACY_PREFIX_LENGTH && (octet === 0n || octet === 0xffn)
}

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
  return addressOf(bytes)
}

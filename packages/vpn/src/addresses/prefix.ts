/** Ranges as bytes, for the many comparisons of a rebuild; all else keeps them as text. */
import { type Cidr, type IpAddress, tryParseAddressInRange, tryParseIp } from '@mesh/core'
import ipaddr from 'ipaddr.js'
import { BROAD_IPV4_BITS, BROAD_IPV6_BITS } from '../limits.ts'

/** Everything, of either family. */
export const DEFAULT_ROUTES = ['0.0.0.0/0', '::/0'] as readonly string[] as readonly Cidr[]

/** A network address of 4 or 16 bytes and how many of its bits count. */
export interface Prefix {
  readonly bytes: readonly number[]
  readonly bits: number
}

/** Undefined unless the text is what `IpAddress` would be: other spellings are other keys of the ledger. */
export function canonicalIp(text: string): IpAddress | undefined {
  const address = tryParseIp(text)
  return address === text ? address : undefined
}

/** Undefined unless the text is what `Cidr` would be. */
export function canonicalCidr(text: string): Cidr | undefined {
  const range = tryParseAddressInRange(text)?.range
  return range === text ? range : undefined
}

export function prefixOf(range: Cidr): Prefix {
  const slash = range.lastIndexOf('/')
  return { bytes: bytesOf(range.slice(0, slash) as IpAddress), bits: Number(range.slice(slash + 1)) }
}

/** The prefix that holds just this address. */
export function hostPrefix(address: IpAddress): Prefix {
  const bytes = bytesOf(address)
  return { bytes, bits: bytes.length * 8 }
}

function bytesOf(address: IpAddress): readonly number[] {
  return address.includes(':') ? ipaddr.parse(address).toByteArray() : address.split('.').map(Number)
}

/** The range of just this address: `10.1.0.1/32`, `fd00::1/128`. */
export function hostRange(address: IpAddress): Cidr {
  return `${address}/${address.includes(':') ? 128 : 32}` as Cidr
}

/** True when `outer` holds all of `inner`; always false across families. */
export function covers(outer: Prefix, inner: Prefix): boolean {
  if (outer.bytes.length !== inner.bytes.length || outer.bits > inner.bits) return false
  for (let at = 0, bits = outer.bits; bits > 0; at++, bits -= 8) {
    const difference = (outer.bytes[at] ?? 0) ^ (inner.bytes[at] ?? 0)
    if (difference >> Math.max(0, 8 - bits) !== 0) return false
  }
  return true
}

/** True for a default route, and for a range so large that it comes to the same. */
export function isBroad({ bytes, bits }: Prefix): boolean {
  return bits < (bytes.length === 4 ? BROAD_IPV4_BITS : BROAD_IPV6_BITS)
}

/** Ranges that are never behind a peer: those of this host, of links and of groups. */
const RESERVED = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  '::ffff:0:0/96',
  'fe80::/10',
  'ff00::/8',
].map((text) => prefixOf(text as Cidr))

/** True when the prefix lies wholly in ranges that are never behind a peer; a default route does not. */
export function isReserved(prefix: Prefix): boolean {
  return prefix.bits > 0 && RESERVED.some((range) => covers(range, prefix))
}

/** Ranges that are no part of the Internet: private ones, those of carriers, and those for documentation and tests. */
const NOT_PUBLIC = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  'fc00::/7',
].map((text) => prefixOf(text as Cidr))

/** True when the prefix holds addresses that are no part of the Internet. */
export function holdsPrivate(prefix: Prefix): boolean {
  return NOT_PUBLIC.some((range) => covers(range, prefix) || covers(prefix, range))
}

/** True when the prefix holds addresses of the Internet. */
export function isPublic(prefix: Prefix): boolean {
  return !NOT_PUBLIC.some((range) => covers(range, prefix))
}

/** Addresses as numbers: neighbours, and the edges of a range. */
import { type AddressInRange, type Cidr, type IpAddress } from '@mesh/core'
import ipaddr from 'ipaddr.js'

/** The address as a number of 32 or 128 bits. */
export function numberOf(address: IpAddress): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((number, byte) => (number << 8n) | BigInt(byte), 0n)
}

export function ipv4Of(number: bigint): IpAddress {
  const value = Number(number)
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}` as IpAddress
}

export function isIpv4(address: IpAddress | Cidr): boolean {
  return !address.includes(':')
}

export function prefixLengthOf(range: Cidr): number {
  return Number(range.slice(range.lastIndexOf('/') + 1))
}

/** The first and the last address that a host may have: all of a /31 and longer (RFC 3021), or /127 (RFC 6164). */
export function hostsOf(range: Cidr): { readonly first: bigint; readonly last: bigint } {
  const { bits, network, size } = spanOf(range)
  const top = network + size - 1n
  if (size <= 2n) return { first: network, last: top }
  return { first: network + 1n, last: bits === 32 ? top - 1n : top }
}

/** True for the range's own address, which in IPv6 means any of its routers. */
export function isNetworkAddress({ address, range }: AddressInRange): boolean {
  return numberOf(address) < hostsOf(range).first
}

/** True for a broadcast address, which only IPv4 has. */
export function isBroadcastAddress({ address, range }: AddressInRange): boolean {
  return numberOf(address) > hostsOf(range).last
}

function spanOf(range: Cidr) {
  const network = range.slice(0, range.lastIndexOf('/')) as IpAddress
  const bits = isIpv4(network) ? 32 : 128
  return { bits, network: numberOf(network), size: 1n << BigInt(bits - prefixLengthOf(range)) }
}

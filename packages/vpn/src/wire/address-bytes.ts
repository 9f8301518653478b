/** Addresses as bytes on the wire: 4 or 16 of them. */
import { type IpAddress, parseIp } from '@mesh/core'
import ipaddr from 'ipaddr.js'

/** @param width 16: IPv4 is mapped into IPv6 */
export function addressBytes(address: IpAddress, width?: 16): Uint8Array {
  const parsed = ipaddr.parse(address)
  const isMapped = width === 16 && parsed.kind() === 'ipv4'
  return Uint8Array.from(
    isMapped ? (parsed as ipaddr.IPv4).toIPv4MappedAddress().toByteArray() : parsed.toByteArray(),
  )
}

/** Reads an address of 4 or 16 bytes; an IPv4 address that is mapped into IPv6 is that IPv4 address. */
export function addressOf(bytes: Iterable<number>): IpAddress {
  const parsed = ipaddr.fromByteArray([...bytes])
  const isMapped = parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).isIPv4MappedAddress()
  return parseIp((isMapped ? (parsed as ipaddr.IPv6).toIPv4Address() : parsed).toString())
}

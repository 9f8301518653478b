import type { Connection } from '@libp2p/interface'
import { addressGroup } from '@mesh/core'
import { ipOf } from './address-rules.ts'

/**
 * Gives what a connection counts under where bounds go by address: an IPv4 address, an IPv6 /64, the relay's own for a
 * relayed connection, and what stands in its place where there are no IP addresses.
 */
export function addressGroupOf({ remoteAddr }: Pick<Connection, 'remoteAddr'>): string {
  const ip = ipOf(remoteAddr)
  return ip === undefined ? remoteAddr.toString() : addressGroup(ip)
}

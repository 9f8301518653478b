import type { Connection } from '@libp2p/interface'
import { addressGroup } from '@mesh/core'
import { ipOf } from './address-rules.ts'

/** The group of each remote address of a connection: those of all are asked for with each connection that comes. */
const groups = new WeakMap<Connection['remoteAddr'], string>()

/** Gives the group of a connection: an IPv4 address, an IPv6 /64, the relay's for relayed ones, or its text. */
export function addressGroupOf({ remoteAddr }: Pick<Connection, 'remoteAddr'>): string {
  const known = groups.get(remoteAddr)
  if (known !== undefined) return known
  const ip = ipOf(remoteAddr)
  const group = ip === undefined ? remoteAddr.toString() : addressGroup(ip)
  groups.set(remoteAddr, group)
  return group
}

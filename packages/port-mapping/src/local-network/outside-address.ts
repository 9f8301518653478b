/** Says whether what a router names as its address outside could be one. Pure. */
import { cidrContains, type IpAddress, parseCidr } from '@mesh/core'

/** Those of a machine itself, of links and of groups: nobody reaches a router there. Private ones are those of a network around. */
const NOWHERE = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'].map(parseCidr)

/** @param address as a router tells it for IPv4, of which this is asked; one of IPv6 is none */
export function isOutside(address: IpAddress): boolean {
  return !address.includes(':') && !NOWHERE.some((range) => cidrContains(range, address))
}

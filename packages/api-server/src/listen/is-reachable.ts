import { BlockList } from 'node:net'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * True for an address that other machines reach.
 *
 * @param family as a socket tells it: `IPv4` or `IPv6`
 */
export function isReachable(address: string, family: string): boolean {
  return !LOOPBACK.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4')
}

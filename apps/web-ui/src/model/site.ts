/** The site of a machine: the network around the address at which this node reaches it. */
import { type Cidr, cidrContains, type IpAddress, isLoopback, parseCidr, tryParseIp } from '@mesh/core'
import type { Machine } from './machine.ts'

/** Addresses that only their own site routes, and those of carrier NAT. */
const PRIVATE: readonly Cidr[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
  'fe80::/10',
].map(parseCidr)

/** The /24 or /64 of its public address; of a private one where it has no other. Undefined: no address of it is known. */
export function siteOf({ peer, addresses }: Pick<Machine, 'peer' | 'addresses'>): string | undefined {
  const candidates = [peer?.UDP?.Endpoint ?? '', ...(peer?.Addresses ?? [])].flatMap(addressIn)
  // its addresses inside of the VPN tell nothing of where it is
  const known = candidates.filter((ip) => !isLoopback(ip) && !addresses.includes(ip))
  const address = known.find((ip) => !PRIVATE.some((range) => cidrContains(range, ip))) ?? known[0]
  if (address === undefined) return undefined
  return parseCidr(`${address}/${address.includes(':') ? 64 : 24}`)
}

/** The address in `192.0.2.7:51820`, `[2001:db8::7]:51820` or `/ip4/192.0.2.7/udp/4001`; a circuit has that of its relay. */
function addressIn(text: string): IpAddress[] {
  if (text.includes('/p2p-circuit')) return []
  const found = /^\/ip[46]\/([^/]+)/.exec(text) ?? /^\[?([^\]/]+)\]?:\d+$/.exec(text)
  const ip = tryParseIp(found?.[1] ?? '')
  return ip === undefined ? [] : [ip]
}

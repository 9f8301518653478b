/** Contradictions between the options of the VPN. */
import { type AddressInRange, cidrContains, type IpAddress } from '@mesh/core'
import type { Judged } from './judged.ts'
import {
  isIpv6,
  parseOfferedRoute,
  parseStaticPeer,
  parseVpnAddress,
  parseVpnHost,
  valuesOf,
} from './vpn-values.ts'

/** The most addresses that the VPN takes. */
const MAX_ADDRESSES = 16
/** Smaller ranges of IPv4 have no address of the network and for broadcasts (RFC 3021). */
const MAX_NETWORK_PREFIX = 30

export function findVpnContradictions(judged: Judged): void {
  const addresses = valuesOf(judged.settings.address, parseVpnAddress)
  judgeAddresses(addresses, judged)
  judgeRoutes(addresses, judged)
  judgePeers(addresses, judged)
  judgeExit(judged)
}

function judgeExit({ settings, placeOf, refuse }: Judged): void {
  if (settings.exitNode === undefined) return
  if (settings.advertiseExit)
    refuse('exitNode', `not together with ${placeOf('advertiseExit')}: an exit sends on by its own way`)
  if (settings.router !== undefined)
    refuse('exitNode', `not together with ${placeOf('router')}, which gets the same packets`)
}

function judgeAddresses(addresses: readonly AddressInRange[], { settings, placeOf, refuse }: Judged): void {
  if (addresses.length > MAX_ADDRESSES) refuse('address', `at most ${MAX_ADDRESSES} addresses`)
  const twice = addresses.find(
    ({ address }, at) => addresses.findIndex((each) => each.address === address) < at,
  )
  if (twice !== undefined) refuse('address', `each address once, and ${twice.address} is there twice`)
  for (const given of addresses.filter(isAlone)) {
    const isIn = addresses.some((other) => other !== given && cidrContains(other.range, given.address))
    if (isIn) continue
    const example = isIpv6(given.address) ? `${given.address}/64` : `${given.address}/24`
    refuse(
      'address',
      `the length of the VPN's range, the same on all machines, like ${example}: with /${given.prefixLength} no other machine is in it`,
    )
  }
  if (settings.dhcp) return judgeLeaseRange(addresses, { placeOf, refuse })
  for (const given of addresses) {
    const reason = reservedFor(given)
    if (reason === undefined) continue
    const hint = isIpv6(given.address) ? '' : '; --dhcp leases one in that range'
    refuse('address', `a machine's address, and ${given.address} is ${reason} ${given.range}${hint}`)
  }
}

/** The form that WireGuard's files have: a range that holds the address alone. */
function isAlone({ address, prefixLength }: AddressInRange): boolean {
  return prefixLength === (isIpv6(address) ? 128 : 32)
}

function judgeLeaseRange(
  addresses: readonly AddressInRange[],
  { placeOf, refuse }: Pick<Judged, 'placeOf' | 'refuse'>,
): void {
  if (addresses.length > 1 || addresses.some(({ address }) => isIpv6(address))) {
    refuse('address', `one IPv4 range to lease in with ${placeOf('dhcp')} (an IPv6 address is always there)`)
  }
}

function judgeRoutes(addresses: readonly AddressInRange[], { settings, refuse }: Judged): void {
  for (const { range: route } of valuesOf(settings.advertiseRoute, parseOfferedRoute)) {
    const [network = ''] = route.split('/')
    const own = addresses.find(({ range }) => cidrContains(range, network as IpAddress))
    if (own !== undefined && !route.endsWith('/0')) {
      refuse('advertiseRoute', `a network outside the VPN, and ${route} lies in ${own.range} (--address)`)
    }
  }
}

function judgePeers(addresses: readonly AddressInRange[], { settings, refuse }: Judged): void {
  const [router] = valuesOf(settings.router === undefined ? [] : [settings.router], parseVpnHost)
  if (router !== undefined && !settings.dhcp && addresses.some(({ address }) => address === router)) {
    refuse('router', `the address of another machine, and ${router} is this one's (--address)`)
  }
  const peers = new Map<IpAddress, string>()
  for (const { address, peer } of valuesOf(settings.staticPeertable, parseStaticPeer)) {
    if ((peers.get(address) ?? peer) !== peer) {
      refuse('staticPeertable', `one peer for each address, and ${address} has two`)
    }
    peers.set(address, peer)
  }
}

/** Says what an address is that no machine may have: the first of its range, and IPv4's last. */
function reservedFor({ address, range, prefixLength }: AddressInRange): string | undefined {
  if (isIpv6(address)) {
    return prefixLength < 127 && range.startsWith(`${address}/`) ? 'the network itself,' : undefined
  }
  if (prefixLength > MAX_NETWORK_PREFIX) return undefined
  if (range.startsWith(`${address}/`)) return 'the network itself,'
  const hostBits = 2 ** (32 - prefixLength)
  return numberOf(address) % hostBits === hostBits - 1 ? 'for broadcasts in' : undefined
}

function numberOf(address: IpAddress): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

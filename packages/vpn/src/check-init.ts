/** Holds what a person asked for against what a VPN can be, before anything is touched. */
import { type AddressInRange, type Cidr, cidrContains, formatAddressInRange } from '@mesh/core'
import { checkAddressForms, checkHostNetworks } from './addresses/check-addresses.ts'
import { isIpv4 } from './addresses/ip-math.ts'
import { vpnError } from './errors.ts'
import {
  DEFAULT_MTU,
  MAX_ADVERTISED_ROUTES,
  MAX_MTU,
  MAX_OWN_ADDRESSES,
  MAX_STATIC_PEERS,
  MIN_IPV6_MTU,
  MIN_MTU,
} from './limits.ts'
import type { VpnHost, VpnInit } from './vpn.ts'
import { IPV6_ON } from './vpn-problems.ts'

export interface CheckedAgainst {
  readonly host: VpnHost
  /** The ranges of the fixed addresses, or the one to lease in. */
  readonly ranges: readonly Cidr[]
  /** False: the interface has IPv4 only. */
  readonly takesIpv6: boolean
  /** The range in which each peer has the address that follows from its id, and no other. */
  readonly derivedRange: Cidr
}

/** @throws MeshError `vpn.bad_mtu`, `vpn.too_many`, `vpn.bad_address`, `vpn.no_ipv6`, `vpn.address_in_use` */
export function checkInit(init: VpnInit, { host, ranges, derivedRange, takesIpv6 }: CheckedAgainst): void {
  const { mtu = DEFAULT_MTU, addresses, staticPeers = [], advertiseRoutes = [] } = init
  if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU) {
    throw vpnError('vpn.bad_mtu', `an MTU of ${mtu} bytes`, {
      hint: `Give a number from ${MIN_MTU} to ${MAX_MTU}: --mtu ${DEFAULT_MTU}. IPv6 needs ${MIN_IPV6_MTU} at least.`,
    })
  }
  checkCount('addresses', addresses, MAX_OWN_ADDRESSES)
  checkCount('static peers', staticPeers, MAX_STATIC_PEERS)
  checkCount('advertised routes', advertiseRoutes, MAX_ADVERTISED_ROUTES)
  const [error] = [
    ...checkAddressForms(addresses),
    ...addresses.filter(({ address }) => cidrContains(derivedRange, address)).map(inDerivedRange),
    ...(takesIpv6
      ? []
      : addresses.filter(({ address }) => !isIpv4(address)).map((each) => withoutIpv6(each, host))),
    ...checkHostNetworks(ranges, host.networks(), init.interface),
  ]
  if (error !== undefined) throw error
}

function inDerivedRange({ address, prefixLength }: AddressInRange): Error {
  return vpnError(
    'vpn.bad_address',
    `--address ${address}/${prefixLength} is in the prefix of derived addresses`,
    {
      hint: 'Each node has one address there without asking. Give one of another prefix, as fd00:1::11/64, or none.',
      issues: [{ field: '--address', value: address, expected: 'an address outside of the derived prefix' }],
    },
  )
}

function withoutIpv6(given: AddressInRange, host: VpnHost): Error {
  const text = formatAddressInRange(given)
  const [why, hint] = host.hasIpv6()
    ? [
        `IPv6 needs an MTU of ${MIN_IPV6_MTU} bytes`,
        `Give --mtu ${MIN_IPV6_MTU} or more, or an IPv4 address.`,
      ]
    : ['IPv6 is switched off on this machine', `${IPV6_ON} Or give an IPv4 address.`]
  return vpnError('vpn.no_ipv6', `--address ${text} cannot be set: ${why}`, {
    hint,
    issues: [{ field: '--address', value: text, expected: 'an IPv4 address, as 10.1.0.11/24' }],
  })
}

function checkCount(what: string, all: readonly unknown[], most: number): void {
  if (all.length > most) {
    throw vpnError('vpn.too_many', `${all.length} ${what}`, { hint: `There can be ${most}.` })
  }
}

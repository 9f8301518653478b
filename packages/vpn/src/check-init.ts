/** What a person asked for, held against what a VPN can be: thrown before anything is touched. */
import type { Cidr } from '@mesh/core'
import { checkAddressForms, checkHostNetworks } from './addresses/check-addresses.ts'
import { vpnError } from './errors.ts'
import {
  DEFAULT_MTU,
  MAX_ADVERTISED_ROUTES,
  MAX_MTU,
  MAX_OWN_ADDRESSES,
  MAX_STATIC_PEERS,
  MIN_MTU,
} from './limits.ts'
import type { VpnHost, VpnInit } from './vpn.ts'

/** @throws MeshError `vpn.bad_mtu`, `vpn.too_many`, `vpn.bad_address`, `vpn.address_in_use` */
export function checkInit(init: VpnInit, ranges: readonly Cidr[], host: VpnHost): void {
  const { mtu = DEFAULT_MTU, addresses, staticPeers = [], advertiseRoutes = [] } = init
  if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU) {
    throw vpnError('vpn.bad_mtu', `an MTU of ${mtu} bytes`, {
      hint: `IPv6 needs ${MIN_MTU} at least; the most is ${MAX_MTU}.`,
    })
  }
  checkCount('addresses', addresses, MAX_OWN_ADDRESSES)
  checkCount('static peers', staticPeers, MAX_STATIC_PEERS)
  checkCount('advertised routes', advertiseRoutes, MAX_ADVERTISED_ROUTES)
  const [error] = [
    ...checkAddressForms(addresses),
    ...checkHostNetworks(ranges, host.networks(), init.interface),
  ]
  if (error !== undefined) throw error
}

function checkCount(what: string, all: readonly unknown[], most: number): void {
  if (all.length > most) {
    throw vpnError('vpn.too_many', `${all.length} ${what}`, { hint: `There can be ${most}.` })
  }
}

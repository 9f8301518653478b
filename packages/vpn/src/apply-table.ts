/**
 * Gives a table to the interface, the tunnels, the engine, the kernel and libp2p; only what differs from the last one.
 */
import {
  type AddressInRange,
  type Cidr,
  formatAddressInRange,
  type Logger,
  type PeerId,
  toError,
} from '@mesh/core'
import { isIpv4 } from './addresses/ip-math.ts'
import type { EngineSupervisor } from './engine-supervisor.ts'
import type { VpnTable } from './table/build-table.ts'
import { buildEngineTable } from './table/engine-table.ts'
import type { OwnRules } from './rules/own-rules.ts'
import type { Tunnels } from './tunnels/tunnels.ts'
import type { VpnNetwork } from './ports.ts'

interface TableApplierInit {
  /** This node's VPN ranges: libp2p keeps out of them and of the kernel's routes. */
  readonly ranges: readonly Cidr[]
  readonly advertised: readonly Cidr[]
  /** False: the interface has IPv4 only, and the kernel takes no other routes into it. */
  readonly takesIpv6: boolean
  /** This node's addresses, which the interface has when this is made. */
  readonly addresses: () => readonly AddressInRange[]
  /** The longest packet of guests, in bytes. */
  readonly guestMtu: number
  /** Called when the interface has other addresses. */
  readonly onAddresses: (addresses: readonly AddressInRange[]) => void
}

interface TableApplierComponents {
  readonly supervisor: EngineSupervisor
  readonly tunnels: Tunnels
  readonly network: Pick<VpnNetwork, 'blockRanges'>
  readonly rules: Pick<OwnRules, 'apply'>
  readonly log: Logger
}

export class TableApplier {
  /** Why the interface did not take its addresses. */
  addressesError: Error | undefined
  /** Why the kernel did not take the routes. */
  routesError: Error | undefined
  readonly #init: TableApplierInit
  readonly #components: TableApplierComponents
  #table: VpnTable | undefined
  /** The state that the interface and the kernel were told last. */
  #told: { addresses: string; routes: string }

  constructor(init: TableApplierInit, components: TableApplierComponents) {
    this.#init = init
    this.#components = components
    this.#told = { addresses: init.addresses().map(formatAddressInRange).join(), routes: '' }
  }

  apply(table: VpnTable): void {
    this.#table = table
    this.#setAddresses()
    this.#components.tunnels.setPeers(table.peers.keys())
    this.setEngineTable()
    this.#setRoutes(this.#init.takesIpv6 ? table.kernelRoutes : table.kernelRoutes.filter(isIpv4))
  }

  /** Gives the engine the table with the tunnels of now. */
  setEngineTable(): void {
    const { supervisor, tunnels, rules, log } = this.#components
    const table = this.#table
    if (table === undefined) return
    const tunnelOf = (peer: PeerId) => tunnels.chosenOf(peer)
    try {
      const { advertised, guestMtu } = this.#init
      const built = buildEngineTable(table, { own: table.own, advertised, tunnelOf, guestMtu })
      rules.apply(built, (ruled) => supervisor.setTable(ruled))
    } catch (error) {
      log.error('table not set', { error })
    }
  }

  /** Must be called when there is another interface: that one has no routes. */
  forgetRoutes(): void {
    this.#told.routes = ''
  }

  #setAddresses(): void {
    const addresses = this.#init.addresses()
    const text = addresses.map(formatAddressInRange).join()
    if (text === this.#told.addresses) return
    this.#told.addresses = text
    try {
      this.#components.supervisor.setAddresses(addresses)
      this.addressesError = undefined
    } catch (error) {
      this.#components.log.error('addresses not set', { error })
      this.addressesError = toError(error)
    }
    this.#init.onAddresses(addresses)
  }

  #setRoutes(kernelRoutes: readonly Cidr[]): void {
    const routes = kernelRoutes.join()
    if (routes === this.#told.routes) return
    this.#told.routes = routes
    const { network, supervisor } = this.#components
    // first, so that no connection is made through the VPN itself
    network.blockRanges([...this.#init.ranges, ...kernelRoutes])
    this.routesError = supervisor.setRoutes(kernelRoutes)
  }
}

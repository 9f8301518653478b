/**
 * Gathers what a table is built from: the ledger, the person's options, this node's addresses and the host's networks.
 */
import type { AddressInRange, Cidr, IpAddress, PeerId } from '@mesh/core'
import { deriveIpv6 } from '../addresses/derive-ipv6.ts'
import { DEFAULT_LIVENESS_MS, MAX_TABLE_PEERS } from '../limits.ts'
import type { Guest } from '../guests/guest-file.ts'
import type { VpnComponents, VpnInit } from '../vpn.ts'
import type { TableInput } from './table-input.ts'
import type { ExitWish } from './choose-exit.ts'

interface TableInputsInit {
  /** The wishes of the person. */
  readonly options: VpnInit
  readonly derived: AddressInRange
  /** This node's VPN ranges. */
  readonly ranges: readonly Cidr[]
  readonly guests: () => readonly Guest[]
  readonly exit: () => ExitWish | undefined
  /** The addresses of this node. */
  readonly own: () => readonly AddressInRange[]
  /** The name of the VPN's interface, whose networks are not the host's. */
  readonly interfaceName: () => string
}

export class TableInputs {
  /** True when this node takes networks that others advertise. */
  readonly acceptsRoutes: boolean
  readonly #init: TableInputsInit
  readonly #components: Pick<VpnComponents, 'ledger' | 'clock' | 'host'>
  readonly #derivedAddresses = new Map<PeerId, IpAddress>()

  constructor(init: TableInputsInit, components: Pick<VpnComponents, 'ledger' | 'clock' | 'host'>) {
    const { acceptRoutes = false, acceptRoutesFrom = [] } = init.options
    this.acceptsRoutes = acceptRoutes || acceptRoutesFrom.length > 0
    this.#init = init
    this.#components = components
  }

  /** The input as it is now. */
  read(): TableInput {
    const { ledger, clock, host } = this.#components
    const { options, derived, ranges, own } = this.#init
    const { acceptRoutes = false, acceptRoutesFrom = [] } = options
    return {
      snapshot: ledger.snapshot(),
      now: clock.now(),
      self: ledger.self,
      mode: ledger.mode,
      livenessMs: options.livenessMs ?? DEFAULT_LIVENESS_MS,
      own: own().map(({ address }) => address),
      ranges,
      derived: { prefix: derived.range, addressOf: (peer) => this.#derivedOf(peer) },
      staticPeers: options.staticPeers ?? [],
      admits: (peer) => ledger.admits(peer),
      router: options.router,
      guests: this.#init.guests(),
      exit: this.#init.exit(),
      accept: { any: acceptRoutes, from: new Set(acceptRoutesFrom) },
      advertised: options.advertiseRoutes ?? [],
      connected: this.#connected(),
      routed: this.acceptsRoutes ? host.routes(this.#init.interfaceName()).map(({ range }) => range) : [],
      remotes: this.acceptsRoutes ? host.remoteAddresses() : [],
    }
  }

  /** The host's networks without the VPN's. */
  #connected(): readonly Cidr[] {
    const own = this.#init.interfaceName()
    return this.#components.host
      .networks()
      .filter((network) => network.interface !== own)
      .map(({ address }) => address.range)
  }

  /** Remembered, as a table asks for thousands. */
  #derivedOf(peer: PeerId): IpAddress {
    let address = this.#derivedAddresses.get(peer)
    if (address === undefined) {
      if (this.#derivedAddresses.size >= 2 * MAX_TABLE_PEERS) this.#derivedAddresses.clear()
      address = deriveIpv6(this.#init.derived.range, peer).address
      this.#derivedAddresses.set(peer, address)
    }
    return address
  }
}

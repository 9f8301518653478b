/**
 * Gathers what a table is built from: the ledger, the person's options, this node's addresses and the host's networks.
 */
import { type AddressInRange, BoundedMap, type Cidr, type IpAddress, type PeerId } from '@mesh/core'
import { deriveIpv6 } from '../addresses/derive-ipv6.ts'
import { DEFAULT_LIVENESS_MS, MAX_TABLE_PEERS } from '../limits.ts'
import type { Guest } from '../guests/guest-file.ts'
import type { VpnComponents, VpnInit } from '../vpn.ts'
import type { TableInput } from './table-input.ts'
import type { ExitWish } from './choose-exit.ts'

interface TableInputsInit {
  /** The wishes of the person. */
  readonly options: VpnInit
  /** The range in which each peer has the address that follows from its id. */
  readonly derivedRange: Cidr
  /** This node's VPN ranges. */
  readonly ranges: readonly Cidr[]
  readonly guests: () => readonly Guest[]
  readonly exit: () => ExitWish | undefined
  /** The addresses of this node. */
  readonly own: () => readonly AddressInRange[]
  /** The name of the VPN's interface, whose networks are not the host's. */
  readonly interfaceName: () => string
}

/** True when this node takes networks that others advertise. */
export function takesRoutes({
  acceptRoutes = false,
  acceptRoutesFrom = [],
}: Pick<VpnInit, 'acceptRoutes' | 'acceptRoutesFrom'>): boolean {
  return acceptRoutes || acceptRoutesFrom.length > 0
}

/** The returned function gives the input as it is then. */
export function tableInputs(
  { options, derivedRange, ranges, own, guests, exit, interfaceName }: TableInputsInit,
  { ledger, clock, host }: Pick<VpnComponents, 'ledger' | 'clock' | 'host'>,
): () => TableInput {
  const { acceptRoutes = false, acceptRoutesFrom = [] } = options
  /** Remembered, as a table asks for thousands. */
  const derivedAddresses = new BoundedMap<PeerId, IpAddress>(2 * MAX_TABLE_PEERS)
  const addressOf = (peer: PeerId) => {
    const known = derivedAddresses.get(peer)
    if (known !== undefined) return known
    const { address } = deriveIpv6(derivedRange, peer)
    derivedAddresses.set(peer, address)
    return address
  }
  return () => ({
    snapshot: ledger.snapshot(),
    now: clock.now(),
    self: ledger.self,
    mode: ledger.mode,
    livenessMs: options.livenessMs ?? DEFAULT_LIVENESS_MS,
    own: own().map(({ address }) => address),
    ranges,
    derived: { prefix: derivedRange, addressOf },
    staticPeers: options.staticPeers ?? [],
    admits: (peer) => ledger.admits(peer),
    router: options.router,
    guests: guests(),
    exit: exit(),
    accept: { any: acceptRoutes, from: new Set(acceptRoutesFrom) },
    advertised: options.advertiseRoutes ?? [],
    connected: host
      .networks()
      .filter((network) => network.interface !== interfaceName())
      .map(({ address }) => address.range),
    routed: takesRoutes(options) ? host.routes(interfaceName()).map(({ range }) => range) : [],
    remotes: takesRoutes(options) ? host.remoteAddresses() : [],
  })
}

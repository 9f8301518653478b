/** The ledger as it is at one time, and what the person asked for, from which a table is built. */
import { type AddressInRange, BoundedMap, type Cidr, type IpAddress, type PeerId } from '@mesh/core'
import type { OwnershipMode, Snapshot } from '@mesh/ledger'
import { deriveIpv6 } from '../addresses/derive-ipv6.ts'
import type { Guest } from '../guests/guest-file.ts'
import { DEFAULT_LIVENESS_MS, MAX_TABLE_PEERS } from '../limits.ts'
import type { AcceptedRoute, StaticPeer, VpnComponents, VpnInit } from '../vpn.ts'
import type { ExitWish } from './choose-exit.ts'
import type { PeerReach } from './peer-reach.ts'

export type TableSnapshot = Pick<Snapshot, 'entries' | 'getLive' | 'isOwnerLive'>

export interface TableInput {
  readonly snapshot: TableSnapshot
  /** The time of the table, in Unix ms. */
  readonly now: number
  readonly self: PeerId
  readonly mode: OwnershipMode
  readonly livenessMs: number
  /** The addresses that this node should have: nobody else's, as long as nobody else has them. */
  readonly own: readonly IpAddress[]
  /** This node's VPN ranges, the derived prefix too: machines elsewhere do not enter. */
  readonly ranges: readonly Cidr[]
  readonly derived: {
    readonly prefix: Cidr
    /** The one address in the prefix that a peer may have. */
    addressOf(peer: PeerId): IpAddress
  }
  /** The static table, which replaces the ledger's machines when it is not empty. */
  readonly staticPeers: readonly StaticPeer[]
  /** False for a peer that is kept out of the network. */
  readonly admits: (peer: PeerId) => boolean
  readonly router: IpAddress | undefined
  /** Whom this node carries for. */
  readonly guests?: readonly Guest[]
  /** The member that a person named for all that leaves for the Internet. */
  readonly exit?: ExitWish | undefined
  readonly accept: AcceptPolicy
  /** How a router or exit is reached now; where several do the same, it decides. Default: all are reached. */
  readonly reachOf?: (peer: PeerId) => PeerReach
  /** The routes of the table before this one, and of an earlier run: they stay, whoever claims parts of them. */
  readonly held?: readonly HeldRoute[]
  /** The networks that this node routes for others. */
  readonly advertised: readonly Cidr[]
  /** The networks of the host, without the VPN's. */
  readonly connected: readonly Cidr[]
  /** The networks to which the host has routes, through gateways or not, without the VPN's. */
  readonly routed: readonly Cidr[]
  /** The addresses through which this node reaches other peers now. */
  readonly remotes: readonly IpAddress[]
}

/** A route that was accepted, by whose it is. */
export type HeldRoute = Pick<AcceptedRoute, 'peer' | 'range'>

export interface AcceptPolicy {
  /** Takes routes of every member, but default routes of none. */
  readonly any: boolean
  /** Takes all routes of these members. */
  readonly from: ReadonlySet<PeerId>
}

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
  readonly reachOf: (peer: PeerId) => PeerReach
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
  { options, derivedRange, ranges, own, guests, exit, interfaceName, reachOf }: TableInputsInit,
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
    reachOf,
    advertised: options.advertiseRoutes ?? [],
    connected: host
      .networks()
      .filter((network) => network.interface !== interfaceName())
      .map(({ address }) => address.range),
    routed: takesRoutes(options) ? host.routes(interfaceName()).map(({ range }) => range) : [],
    remotes: takesRoutes(options) ? host.remoteAddresses() : [],
  })
}

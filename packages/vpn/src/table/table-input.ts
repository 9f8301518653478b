/** The ledger as it is at one time, and what the person asked for, from which a table is built. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import type { OwnershipMode, Snapshot } from '@mesh/ledger'
import type { Guest } from '../guests/guest-file.ts'
import type { AcceptedRoute, StaticPeer } from '../vpn.ts'
import type { ExitWish } from './choose-exit.ts'

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

/** Names are made of this: the ledger at one moment, and which addresses count. */
import type { Cidr } from '@mesh/core'
import type { OwnershipMode, Snapshot } from '@mesh/ledger'

export interface NamesInput {
  readonly snapshot: Pick<Snapshot, 'entries' | 'isOwnerLive' | 'head'>
  readonly mode: OwnershipMode
  /** The present time, in unix ms. */
  readonly now: number
  readonly livenessMs: number
  /** This node's peer id; its machine has the name `ns` in the zone. */
  readonly self: string
  /** The zone of automatic names, with a trailing dot: `mesh.` */
  readonly zone: string
  /** The ranges whose addresses are answered; others could be anybody's. */
  readonly hostRanges: readonly Cidr[]
  /** Ranges of the VPN: their reverse names are this network's alone. */
  readonly ownRanges: readonly Cidr[]
}

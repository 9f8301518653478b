/** The values that a member is given when it starts. */
import type { GossipsubOpts } from '@libp2p/gossipsub'
import type { Cidr } from '@mesh/core'
import type { NetworkConfig } from '@mesh/network'
import type { Admission, PairRules } from '../p2p-node.ts'

export interface P2pMemberInit {
  readonly network: NetworkConfig
  /** The Ed25519 key: the 32-byte seed, or seed and public key together. */
  readonly identity: Uint8Array
  /** The addresses to announce in place of the ones it listens on. */
  readonly announce?: readonly string[]
  /** Peers to dial at once and always; each address ends with `/p2p/` and the peer's id. */
  readonly bootstrapPeers?: readonly string[]
  /** True when members pass on how other members can be reached; true by default. */
  readonly peerExchange?: boolean
  /** The ranges that are never dialled, accepted or announced: the VPN's own. */
  readonly blockedRanges?: readonly Cidr[]
  /** The ids of peers that are never talked to. */
  readonly blockedPeers?: readonly string[]
  /** Who of those with the network's key may use it; everybody by default. */
  readonly admission?: Admission
  /** Which pairs of members may talk; all pairs by default. */
  readonly pairs?: PairRules
  /** True when this node is on the public topic, where members who are kept out may speak. Default false. */
  readonly publicTopic?: boolean
  /** The most connections at a time; 300 by default. */
  readonly maxConnections?: number
  /** The bounds on relaying for others. */
  readonly relayLimits?: Partial<RelayLimits>
  /** Settings of gossipsub that replace those that the gossip topic needs; for tests. */
  readonly gossip?: Partial<GossipsubOpts>
  /** The name of this node: a DNS label (`isNodeName`), told to members by the peer exchange. */
  readonly name?: string
  /** The agent that identify tells others, strangers too; `mesh` by default. */
  readonly userAgent?: string
}

/** The bounds on relaying for one member. */
export interface RelayLimits {
  /** The bytes of one circuit, in both directions together; 1 GiB by default. */
  readonly maxBytes: number
  /** How long one circuit may last, in ms; 30 min by default. */
  readonly maxDurationMs: number
  /** How many circuits one peer may hold at a time; 64 by default. */
  readonly maxCircuitsPerPeer: number
  /** How long a reservation lasts after it was made or renewed, in ms; 1 h by default. */
  readonly reservationMs: number
}

/** The form in which the packet filter gets rules. `@mesh/engine` has the same shape; `apps/node` joins the two. */
import type { Cidr } from '@mesh/core'

/** Who may begin flows to this node, and to what it receives for. Every layer must allow a flow. */
export interface PacketRules {
  /** Ranges and the sets that they are in. An address is in the sets of its longest range only, and in none without a range. */
  readonly ranges: readonly PacketRange[]
  /** The network's policy is one layer, the node's own rules (`--rules FILE`) another. An empty layer allows nothing. */
  readonly layers: readonly (readonly PacketRule[])[]
  /** True: refusals send neither a TCP reset nor an ICMP error (`--rules-drop`). */
  readonly silent: boolean
}

/** A range and the numbers of the sets that its addresses are in. */
export interface PacketRange {
  readonly range: Cidr
  readonly sets: readonly number[]
}

/** Allows flows from one set of addresses to another. */
export interface PacketRule {
  /** The set of the source; undefined: any source. */
  readonly from: number | undefined
  /** The set of the destination; undefined: any destination. */
  readonly to: number | undefined
  /** The packets that it allows; all where this is empty. */
  readonly on: readonly PacketMatch[]
}

/** A protocol and its ports, inclusive; `icmp` stands for ICMP and ICMPv6, and has 0 to 65535 in the place of ports. */
export interface PacketMatch {
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  readonly firstPort: number
  readonly lastPort: number
}

/** The status of access rules for packets. */
import type { Refusal } from '@mesh/engine'

export interface RulesStatus {
  /** The number of flows that each rule allowed since it is in force, in the shape of `PacketRules.layers`. */
  readonly hits: readonly (readonly number[])[]
  /** The packets that were refused since the start, at most 256 kinds, the newest first. */
  readonly refusals: readonly CountedRefusal[]
}

/** Packets that were refused, alike in all but the port of their source. */
export interface CountedRefusal extends Refusal {
  /** The time of the first packet, in Unix ms. */
  readonly since: number
  /** The time of the last packet, in Unix ms. */
  readonly last: number
}

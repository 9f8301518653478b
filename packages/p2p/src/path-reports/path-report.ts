import type { PeerId } from '@mesh/core'

/** How one member reaches another one. */
export interface ToldPath {
  readonly peer: PeerId
  readonly path: 'direct' | 'relayed'
  /** The peer that relays; undefined for direct paths, and where the member does not know it. */
  readonly relay: PeerId | undefined
  /** The round trip, in ms; undefined until it is measured. */
  readonly rttMs: number | undefined
  /** The traffic in both directions, over the last 10 s. */
  readonly bytesPerSecond: number
}

/** The paths that one member tells. They are for showing only: nothing proves them. */
export interface ToldPaths {
  readonly paths: readonly ToldPath[]
  /** The number of paths that are left out. */
  readonly more: number
}

/** One member's report, or why there is none. Without a report `paths` is empty. */
export interface PathReport extends ToldPaths {
  readonly peer: PeerId
  /** `asked`: no answer yet. `silent`: no answer in time. `unsupported`: the member does not speak the protocol. */
  readonly state: 'told' | 'asked' | 'silent' | 'unsupported'
  /** The age of the report; undefined without one. */
  readonly ageMs: number | undefined
}

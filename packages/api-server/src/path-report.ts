/** How one member reaches another one, as the first says. */
interface ToldPath {
  readonly peer: string
  readonly path: 'direct' | 'relayed'
  readonly relay: string | undefined
  readonly rttMs: number | undefined
  /** The traffic in both directions, over the last 10 s. */
  readonly bytesPerSecond: number
}

/** The paths that one member tells, or why it tells none. */
export interface PathReport {
  readonly peer: string
  readonly state: 'told' | 'asked' | 'silent' | 'unsupported'
  /** Undefined without a report. */
  readonly ageMs: number | undefined
  readonly paths: readonly ToldPath[]
  /** The number of paths that are left out. */
  readonly more: number
}

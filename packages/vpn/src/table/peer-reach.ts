/** How well a member is reached, as the choice of a router or an exit asks it. */

/** How a router or an exit is reached now. */
export interface PeerReach {
  readonly isUp: boolean
  /** True when it has been up for a while: one that comes and goes does not take a route back at once. */
  readonly isSteady: boolean
  readonly rttMs: number | undefined
}

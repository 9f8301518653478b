/** Bounds and times for legacy members. */

/** The most publications that are kept to be repeated. */
export const MAX_REPUBLISHED = 256
/** The most bytes of publications that are kept to be repeated. */
export const MAX_REPUBLISHED_BYTES = 4 * 1024 * 1024
/** How long a legacy peer's first gossip stream may outlive its second one, in ms; then it counts as closed. */
export const STREAM_END_GRACE_MS = 200
/** How soon after our GRAFT a PRUNE says that a legacy peer never takes us into its mesh, in ms. */
export const PRUNED_AT_ONCE_MS = 3_000

/** Bounds and times of the peer book. */
import type { BackoffBounds } from '@mesh/core/limits'

/** How often this node looks which peers have not said what they speak, in ms. */
export const IDENTIFY_LOOK_MS = 5_000
/** Delay before such a peer is asked again. */
export const IDENTIFY_AGAIN = { leastMs: 10_000, mostMs: 120_000 } satisfies BackoffBounds
/** The most peers that are asked at a time. */
export const MAX_IDENTIFIED_AT_ONCE = 16
/** The most protocols that are kept of one peer; nodes speak some thirty. */
export const MAX_PEER_PROTOCOLS = 128

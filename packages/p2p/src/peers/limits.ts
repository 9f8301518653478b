/** Bounds and times of the peer book. */

/** How often this node looks which peers have not said what they speak, in ms. */
export const IDENTIFY_LOOK_MS = 5_000
/** How long after its connection opened such a peer is asked again, in ms; each time after twice as long. */
export const IDENTIFY_AGAIN_MS = 10_000
/** The longest time between two such questions, in ms. */
export const IDENTIFY_AGAIN_MOST_MS = 120_000
/** The most peers that are asked at a time. */
export const MAX_IDENTIFIED_AT_ONCE = 16
/** How long no more has changed of this node, in ms, when connected peers are told. */
export const PUSH_AFTER_MS = 1_000
/** The most connections with which changed addresses are told as soon as changed protocols. */
export const FEW_PUSHES = 8
/** How much later changed addresses are told for each connection beyond these, in ms: with fifty, after nine seconds. */
export const PUSH_FOR_EACH_MS = 200
/** The most protocols that are kept of one peer; nodes speak some thirty. */
export const MAX_PEER_PROTOCOLS = 128

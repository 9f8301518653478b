/** Bounds and times of the proof of membership. */

/** The longest handshake message; nonces and proofs are 32 bytes each. */
export const MAX_MEMBER_MESSAGE_BYTES = 256
/** The most handshakes on one connection; one is enough, others make up for lost ones. */
export const MAX_HANDSHAKES_PER_CONNECTION = 8
/** How long the side that was dialled waits for the other's handshake before it begins one, in ms. */
export const DIALLED_SIDE_WAITS_MS = 2_000
/** The waits between handshakes that were not answered, in ms. */
export const HANDSHAKE_RETRY_MS = [2_000, 8_000, 30_000] as const
/** The most peers that are remembered as heard; the one heard longest ago makes room. */
export const MAX_HEARD_MEMBERS = 4096

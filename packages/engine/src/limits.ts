/** Bounds of the engine that its users meet. `native/limits.rs` has the same and the rest. */

/** Frames that wait for one peer's stream; what comes beyond that is dropped and counted. */
export const MAX_CARRY_BYTES = 256 * 1024
/** What one `take` hands out at most, unless a single frame is longer: one sealed block of libp2p's Noise. */
export const MAX_BATCH_BYTES = 65_507
/** Frames from one peer's stream that wait to be opened. */
export const MAX_INJECT_BYTES = 256 * 1024
/** The least MTU of a way; IPv6 needs 1280. */
export const MIN_MTU = 576
/** What IP fixes as the longest packet. */
export const MAX_MTU = 65_535
/** X25519 keys and WireGuard's preshared keys. */
export const KEY_BYTES = 32
/** A frame's length, big-endian, before its bytes. */
export const FRAME_PREFIX_BYTES = 2

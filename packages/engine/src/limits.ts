/** Bounds of the engine that its users meet. `native/limits.rs` repeats them and holds the others. */

/** Bytes of frames that wait for one peer's stream; further frames are dropped and counted (`outboundFull`). */
export const MAX_OUTBOUND_BYTES = 256 * 1024
/** The most bytes that one `take` hands out, unless a single frame is longer: they fill one block of libp2p's Noise. */
export const MAX_BATCH_BYTES = 65_507
/** The least MTU of a tunnel, in bytes; IPv6 needs 1280. */
export const MIN_MTU = 576
/** The longest packet that IP allows, in bytes. */
export const MAX_MTU = 65_535
/** Length of X25519 keys and of WireGuard's preshared keys. */
export const KEY_BYTES = 32
/** The most rules of a layer, and the most layers. */
export const MAX_RULES = 4096
export const MAX_RULE_LAYERS = 4
/** The most ranges that rules name sets for. */
export const MAX_RULE_RANGES = 65_536
/** The most protocols and ranges of ports that one rule names. */
export const MAX_MATCHES = 256
/** Length of the big-endian number before each frame that says how many bytes it has. */
export const FRAME_PREFIX_BYTES = 2

/** Bounds of what a configuration may say. */

// What the protocol fixes (docs/WIRE.md 1 and 2)

/** The most characters that a rotating text can keep: it has 44. */
export const MAX_OTP_LENGTH = 44
/** The characters that the seal's rotating texts keep when the configuration does not say. */
export const DEFAULT_CRYPTO_OTP_LENGTH = 6
/** The characters that the DHT's rotating names keep when the configuration does not say. */
export const DEFAULT_DHT_OTP_LENGTH = 12
/** The length of generated keys and names, in characters. */
export const GENERATED_TEXT_LENGTH = 43
/** The longest gossip message of a generated network: 20 MiB. */
export const DEFAULT_MAX_MESSAGE_BYTES = 20_971_520
/** How long the keys of a generated network last, in seconds. */
export const DEFAULT_OTP_INTERVAL_S = 360
/** The longest interval between keys, in seconds: the greatest that the 64-bit integers of legacy nodes hold. Keys never rotate then. */
export const MAX_OTP_INTERVAL_S = 2n ** 63n - 1n

// What we chose

/** The longest configuration file that is read; a usual one has about 400 bytes. */
export const MAX_CONFIG_BYTES = 64 * 1024
/** The longest key or name; generated ones have 43 characters, and people may write longer ones. */
export const MAX_CONFIG_TEXT_LENGTH = 1024
/** The smallest bound for gossip messages: a smaller one carries not even one signed entry. */
export const MIN_MAX_MESSAGE_BYTES = 1024
/** The greatest bound for gossip messages: with a greater one a message could take a small machine's memory. */
export const MAX_MAX_MESSAGE_BYTES = 256 * 1024 * 1024
/** The most administrators that a configuration names. */
export const MAX_ADMINISTRATORS = 16

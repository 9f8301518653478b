/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

// Network configuration

/** A configuration file has about 400 bytes. */
export const MAX_CONFIG_BYTES = 64 * 1024
/** Keys and names are 43 characters long when generated; people may write longer ones. */
export const MAX_CONFIG_TEXT_LENGTH = 1024
/** Wire: a TOTP has 44 characters, more cannot be kept of it. */
export const MAX_OTP_LENGTH = 44
/** Ten years: beyond that, keys do not rotate. */
export const MAX_OTP_INTERVAL_S = 315_360_000
/** Wire: what a TOTP keeps when the configuration does not say. */
export const DEFAULT_CRYPTO_OTP_LENGTH = 6
/** Wire: the same for the DHT's rendezvous. */
export const DEFAULT_DHT_OTP_LENGTH = 12
/** Seconds; what the command line of existing networks generates. */
export const DEFAULT_OTP_INTERVAL_S = 360
/** Wire: the length of generated keys and names. */
export const GENERATED_TEXT_LENGTH = 43
/** Wire: 20 MiB, in every generated configuration. */
export const DEFAULT_MAX_MESSAGE_BYTES = 20_971_520
/** Less carries not even one signed entry. */
export const MIN_MAX_MESSAGE_BYTES = 1024
/** More would let one message take the memory of a small machine. */
export const MAX_MAX_MESSAGE_BYTES = 256 * 1024 * 1024

// Refusals

/** Refusals beyond this are counted and not told one by one. */
export const REFUSAL_EVENTS_PER_SECOND = 10

// Host

/** Protocols that bandwidth is counted for one by one. */
export const MAX_METERED_PROTOCOLS = 256
/** Peers that bandwidth is counted for one by one. */
export const MAX_METERED_PEERS = 1024
/** Wire 6.4: circuits that one peer may hold over us. */
export const MAX_RELAY_CIRCUITS_PER_PEER = 64
/** Peers whose state is kept, connected or not. */
export const MAX_KNOWN_PEERS = 1024
/** Addresses kept and told for one peer. */
export const MAX_PEER_ADDRESSES = 16

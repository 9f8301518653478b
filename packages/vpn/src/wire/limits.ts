/** Sizes that the messages between members fix, and how long they may be. */

/** The control channel between members, which tells keys (docs/PROTOCOLS.md, 'VPN'). */
export const VPN_PROTOCOL = '/mesh/vpn/1'
/** Length of nonces, macs and X25519 keys. */
export const HASH_BYTES = 32
/** The most candidates that are told, and taken from a peer. */
export const MAX_CANDIDATES = 16

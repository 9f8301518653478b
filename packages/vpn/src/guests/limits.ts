/** The bounds that hold for guests of a node. */

/** The most guests of a node: their addresses count among its own, of which others take 64. */
export const MAX_GUESTS = 32
/**
 * The most guests of a node that have an address of IPv6 as well: with its own and one for each guest, all members keep 48
 * entries of one signer.
 */
export const MAX_GUESTS_WITH_IPV6 = 8
/** How often a guest says that it is there, in seconds: NATs forget a way that nothing takes for 30 s. */
export const KEEPALIVE_S = 25
/** The longest packet of a guest, in bytes: what fits over the Internet's usual 1500 bytes with WireGuard's 60 or 80. */
export const MAX_GUEST_MTU = 1420

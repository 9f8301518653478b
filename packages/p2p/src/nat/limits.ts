/** Bounds and times of NAT traversal. */

/** How often the peers of one address may have this node dial them for hole punching, a second and at once. */
export const HOLE_PUNCHES_BY_ADDRESS = { perSecond: 2, burst: 64 } as const
/** The same of all addresses together. */
export const HOLE_PUNCHES_IN_ALL = { perSecond: 5, burst: 128 } as const
/** How often one address may ask whether this node can dial it, a second in the long run and at once. */
export const DIAL_BACKS_BY_ADDRESS = { perSecond: 0.5, burst: 16 } as const
/** The same of all addresses together. */
export const DIAL_BACKS_IN_ALL = { perSecond: 2, burst: 64 } as const
/** How often members are asked to dial addresses that nobody has confirmed, in ms. */
export const AUTONAT_ASK_MS = 5_000
/** The most peers that are asked at a time; the library itself asks three at once. */
export const MAX_AUTONAT_ASKED = 8
/** The longest STUN request that is read. */
export const MAX_STUN_PACKET_BYTES = 576
/** The most STUN requests that are answered in a second. */
export const MAX_STUN_PER_SECOND = 200

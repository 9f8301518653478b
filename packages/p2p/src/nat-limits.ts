/** Bounds and times of finding a way through NATs: for this node, and for others that ask. */

// Dialling for others

/** How often the peers of one address may have this node dial them for hole punching, a second and at once. */
export const HOLE_PUNCHES_BY_ADDRESS = { perSecond: 2, burst: 64 } as const
/** The same of all addresses together. */
export const HOLE_PUNCHES_IN_ALL = { perSecond: 5, burst: 128 } as const
/** How often one address may ask whether this node can dial it, a second in the long run and at once. */
export const DIAL_BACKS_BY_ADDRESS = { perSecond: 0.5, burst: 16 } as const
/** The same of all addresses together. */
export const DIAL_BACKS_IN_ALL = { perSecond: 2, burst: 64 } as const

// AutoNAT

/** The longest message of AutoNAT, which its specification fixes. */
export const MAX_AUTONAT_MESSAGE_BYTES = 8_192
/** How many fields a question of AutoNAT may have, its addresses among them. */
export const MAX_AUTONAT_FIELDS = 64
/** How often members are asked to dial addresses that nobody has confirmed, in ms. */
export const AUTONAT_ASK_MS = 5_000
/** The most peers that are asked at a time; the library itself asks three at once. */
export const MAX_AUTONAT_ASKED = 8

// STUN (RFC 8489)

/** The longest STUN request that is read. */
export const MAX_STUN_PACKET_BYTES = 576
/** The most STUN requests that are answered in a second. */
export const MAX_STUN_PER_SECOND = 200
/** The most servers that are named to WebRTC, which warns of five or more. */
export const MAX_STUN_SERVERS = 2

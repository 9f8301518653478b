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

// Port mappings

/** The pauses between requests that a router does not answer, in ms; after the last one it has none. */
export const PORT_CONTROL_ASKS_MS: readonly number[] = [250, 500, 1_000, 2_000]
/** How long a mapping lasts unless it is renewed, in s: what a node that crashed leaves goes by itself. */
export const PORT_MAPPING_LIFETIME_S = 1_200
/** The least time until the default router is asked again, in ms: it may be another one by then. */
export const PORT_MAPPING_RETRY_MS = 60_000
/** How long a mapping by UPnP lasts unless it is renewed, in s: routers refuse shorter ones. */
export const UPNP_LEASE_S = 3_600
/** How often it is renewed, in ms, and with it asked where that is: a router's address outside changes without a word. */
export const UPNP_RENEW_MS = 60_000
/** How long a router may take for that, in ms. */
export const UPNP_ANSWER_MS = 10_000
/** How many renewals in a row fail before a router is forgotten: another may have come in its place. */
export const UPNP_FAILURES = 3
/** How long ending the mappings may take, in ms. */
export const STOP_MAPPING_MS = 1_000
/** The most routers that are asked by UPnP: anything in the local network may call itself one. */
export const MAX_UPNP_ROUTERS = 4

// STUN (RFC 8489)

/** The longest STUN request that is read. */
export const MAX_STUN_PACKET_BYTES = 576
/** The most STUN requests that are answered in a second. */
export const MAX_STUN_PER_SECOND = 200
/** The most servers that are named to WebRTC, which warns of five or more. */
export const MAX_STUN_SERVERS = 2

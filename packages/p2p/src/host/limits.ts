/** Bounds of the host: connections, and reservations at this node. */
import type { BackoffBounds, ScopeLimits } from '@mesh/core/limits'

/** The part of `--max-connections` that connections have besides which others opened and have not proven. */
export const UNPROVEN_PART = 0.25
/** The most of these connections. */
export const MAX_UNPROVEN_CONNECTIONS = 128
/** The least of them, however few connections there may be: newcomers need time to prove themselves. */
export const LEAST_UNPROVEN_CONNECTIONS = 48
/** The part of them that one address may have: an IPv4 address, or a /64 of IPv6. */
export const MAX_UNPROVEN_PER_ADDRESS_PART = 2 / 3
/** How long a member's connection stays before it makes way for another one of its address, in ms, where others can. */
export const LEAST_STAY_MS = 10_000
/** Delay before a peer may reconnect that was evicted for the second time. */
export const RETURN_DELAY = { leastMs: 2_000, mostMs: 60_000 } satisfies BackoffBounds
/** The most circuits that one peer may hold over this node (docs/WIRE.md 6.4). */
export const MAX_RELAY_CIRCUITS_PER_PEER = 64
/** The most circuits that the peers of one address may hold: an IPv4 address, or a /64 of IPv6. */
export const MAX_RELAY_CIRCUITS_PER_ADDRESS = 256
/** The most bytes that one circuit carries, both directions together. */
export const RELAY_MAX_BYTES = 2 ** 30
/** How long one circuit may last, in ms. */
export const RELAY_MAX_DURATION_MS = 1_800_000
/** Reservations at this node. */
export const RELAY_RESERVATIONS = { all: 128, perAddress: 48 } satisfies ScopeLimits
/** How long a peer that was shut out keeps a connection on which it can only be told so, in ms. */
export const BANNED_HEARS_MS = 1_000
/** The most servers that are named to WebRTC, which warns of five or more. */
export const MAX_STUN_SERVERS = 2
/** How long a tab waits for a node that relays, in ms. */
export const RELAY_WAIT_MS = 15_000
/** Dials to members that somebody wants a circuit to and that are not connected. */
export const CIRCUIT_DIALS = { perSecond: 0.5, burst: 10 } as const

/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

// Table

/** The most peers in a table: as many as the engine looks up in without being slowed down. */
export const MAX_TABLE_PEERS = 10_000
/** The most addresses of all peers together. */
export const MAX_TABLE_ADDRESSES = 20_000
/** The most addresses of one peer: nobody crowds the others out. */
export const MAX_PEER_ADDRESSES = 64
/** The most accepted routes: each may be one of the kernel's, too. */
export const MAX_TABLE_ROUTES = 10_000
/** The most accepted routes of one peer. */
export const MAX_PEER_ROUTES = 256
/** The most accepted routes, in all, of members that were not named to take routes from. */
export const MAX_UNNAMED_ROUTES = 1_024
/** The bits of an IPv4 prefix below which it takes so much of the Internet along that it counts as a default route. */
export const BROAD_IPV4_BITS = 8
/** The bits of an IPv6 prefix below which it counts as a default route. */
export const BROAD_IPV6_BITS = 16
/** Changes of the ledger that come within this time, in ms, make one table. */
export const REBUILD_DELAY_MS = 20
/** Rebuilding takes at most one part in this many of the time, however fast the ledger changes. */
export const REBUILD_TIME_SHARE = 4
/** The longest wait for a rebuild, in ms, also where the machine is so busy that one took long. */
export const MAX_REBUILD_DELAY_MS = 200
/** Heartbeats that end within this time, in ms, make one rebuild. */
export const EXPIRY_SLACK_MS = 250
/** Entries that are looked at in one step of building: they take about a millisecond where none was read before. */
export const STEP_ENTRIES = 64
/** How long after a change the accepted routes are kept for the next start, in ms. */
export const REMEMBER_ROUTES_MS = 5_000
/** How often the networks of the host are looked at, in ms, while routes are accepted. */
export const HOST_CHECK_MS = 10_000
/** How long a heartbeat keeps its owner's entries, in ms, where nothing else is set (docs/WIRE.md 4.4). */
export const DEFAULT_LIVENESS_MS = 480_000

// Interface

/**
 * The interface's MTU where none is given, in bytes: the least that IPv6 allows passes over whatever carries a stream.
 */
export const DEFAULT_MTU = 1280
/** The least MTU of the interface, in bytes: what every machine with IPv4 takes in one piece. */
export const MIN_MTU = 576
/** The least MTU at which the kernel gives an interface IPv6, in bytes (RFC 8200, section 5). */
export const MIN_IPV6_MTU = 1280
/** The longest packet that IP allows, in bytes. */
export const MAX_MTU = 65_535
/** The most fixed addresses, beside the derived one. */
export const MAX_OWN_ADDRESSES = 16
/** The most entries of a static peer table. */
export const MAX_STATIC_PEERS = 10_000
/** The most networks that a node advertises. */
export const MAX_ADVERTISED_ROUTES = 64
/** How long after an interface was taken away it is made anew, in ms. */
export const REOPEN_AFTER_MS = 1_000
/** The time, in ms, within which an interface that is taken away a second time is not made anew. */
export const REOPEN_AGAIN_MS = 60_000

/** How long after a change of the interface it is looked at, in ms: changes come in bursts. */
export const RESTORE_AFTER_MS = 100
/** How often what the kernel refused to put back is tried again, in ms. */
export const RESTORE_AGAIN_MS = 10_000
/** How often things are put back within `RESTORE_WINDOW_MS` before the other program is left alone. */
export const MAX_RESTORES = 10
/** The time in which that is counted, in ms; then also how often it is still tried. */
export const RESTORE_WINDOW_MS = 60_000

// Several routers and exits

/** How long a router or exit that was lost is reached again, in ms, before it takes a route back from one in use. */
export const STEADY_MS = 10_000
/** The most routers and exits that stand by and to which connections are kept. */
export const MAX_STANDBY = 16
/** The most other routers of one network of this node that are told. */
export const MAX_OTHER_ROUTERS = 16
/** The first and the longest wait between tries to connect to one of them, in ms. */
export const STANDBY_RETRY = { leastMs: 1_000, mostMs: 30_000 }

// Exit

/** How long an exit that was not reached so far is looked for, in ms, before that is an error. */
export const EXIT_SEARCH_MS = 60_000

// Life

/** How long after a lease that could not be taken, as in a full range, it is tried again, in ms. */
export const LEASE_RETRY_MS = 30_000
/** How long a probe may take, in ms: connecting to a peer and one round trip. */
export const PROBE_MS = 30_000
/** How long withdrawing routes may hold the end up, in ms: their writes may be held. */
export const WITHDRAW_MS = 1_000

/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

// Table

/** What the engine looks up in without being slowed down, and what a rebuild takes some 50 ms for. */
export const MAX_TABLE_PEERS = 10_000
/** Addresses of all peers, and of one: nobody crowds the others out. */
export const MAX_TABLE_ADDRESSES = 20_000
export const MAX_PEER_ADDRESSES = 64
/** Accepted routes: each may be one of the kernel's, too. */
export const MAX_TABLE_ROUTES = 10_000
/** Of one peer. */
export const MAX_PEER_ROUTES = 256
/** A shorter prefix takes so much of the Internet along that it counts as a default route. */
export const BROAD_IPV4_BITS = 8
export const BROAD_IPV6_BITS = 16
/** Changes of the ledger that come within this time make one table. */
export const REBUILD_DELAY_MS = 20
/** Rebuilding takes at most one part in this many of the time, however fast the ledger changes, */
export const REBUILD_TIME_SHARE = 4
/** but comes within this time also where the machine is so busy that one took long. */
export const MAX_REBUILD_DELAY_MS = 200
/** Heartbeats that end within this time make one rebuild. */
export const EXPIRY_SLACK_MS = 250
/** Networks of the host are looked at this often, while routes are accepted. */
export const HOST_CHECK_MS = 10_000
/** Wire: how long a heartbeat keeps its owner's entries. */
export const DEFAULT_LIVENESS_MS = 480_000

// Interface

/** The least that IPv6 allows: passes over whatever carries a peer's stream. */
export const DEFAULT_MTU = 1280
export const MIN_MTU = 1280
/** What IP fixes as the longest packet. */
export const MAX_MTU = 65_535
/** Beside the derived one. */
export const MAX_OWN_ADDRESSES = 16
export const MAX_STATIC_PEERS = 10_000
export const MAX_ADVERTISED_ROUTES = 64
/** An interface that was taken away is made anew after this time, */
export const REOPEN_AFTER_MS = 1_000
/** but not when it was taken away twice within this. */
export const REOPEN_AGAIN_MS = 60_000

// Life

/** A lease that could not be taken, as in a full range, is tried again. */
export const LEASE_RETRY_MS = 30_000
/** Connecting to a peer and one round trip. */
export const PROBE_MS = 30_000
/** Withdrawing routes at the end: writes that are held must not hold the end up. */
export const WITHDRAW_MS = 1_000

/** Bounds that we chose for serving the API; the limits that clients see are in the contract. */

/** How many header lines a request may have. */
export const MAX_HEADER_LINES = 1000
/** How many parameters the query of a request may have; no route knows more than a few. */
export const MAX_QUERY_PARAMETERS = 100
/** How long the headers may take, in ms, from the connection or the end of the last request. */
export const HEADERS_TIMEOUT_MS = 10_000
/** How long a whole request may take, in ms, to the end of its body. */
export const REQUEST_TIMEOUT_MS = 30_000
/** How often those two times are checked, in ms. */
export const TIMEOUT_CHECK_INTERVAL_MS = 1_000
/** How long a connection without a request stays, in ms. */
export const KEEP_ALIVE_TIMEOUT_MS = 15_000
/**
 * The time, in ms, after which a connection is cut whose other side takes or sends nothing; longer than any `wait`.
 */
export const SOCKET_IDLE_TIMEOUT_MS = 120_000
/** Most connections of one listener. */
export const MAX_CONNECTIONS = 1_024
/** Connections of other machines to one listener. The rest is for this machine. */
export const REMOTE_CONNECTIONS = { all: 896, perAddress: 64 } as const
/** Longest piece that is parsed at once, in bytes. 4 KiB hold a head, or a body in hundreds of chunks. */
export const PIECE_BYTES = 4 * 1024
/** Rate of health checks of one address that go before other requests. */
export const HEALTH_CHECKS = { perSecond: 20, burst: 40 } as const
/** Bodies that have not come whole, in bytes together. */
export const UNREAD_BODIES = { all: 16 * 1024 * 1024, evict: 'largest' } as const
/** How many of Node's parsers wait to be used again, each with the head that it was in when its connection ended. */
export const MAX_IDLE_PARSERS = 16
/** How many connections wait to be taken; the system may have a lower bound. */
export const LISTEN_BACKLOG = 1_024
/** How long the sender of a request that was answered early may go on, in ms, before its connection is cut. */
export const LINGER_MS = 2_000
/** How long requests in flight may go on, in ms, when the server stops. */
export const STOP_GRACE_MS = 1_000
/** Writes of one remote address. */
export const WRITES = { perSecond: 200, burst: 1_000 } as const
/** How many remote addresses have their writes counted; beyond, the one heard longest ago starts anew. */
export const MAX_RATED_ADDRESSES = 10_000
/** How many random bytes a token of the API is made of. */
export const TOKEN_BYTES = 32
/** How many characters a token may have. */
export const MAX_TOKEN_CHARS = 1_024
/** How many tokens one node takes. */
export const MAX_API_TOKENS = 1_000
/** The time, in ms, in which wrong tokens are counted, and at the end of which they are forgotten. */
export const FAILURE_WINDOW_MS = 60_000
/** How many different wrong tokens one address may send in that time; an IPv6 /64 counts as one. */
export const MAX_WRONG_TOKENS_PER_ADDRESS = 10
/** How many wrong tokens all addresses together may send, before those that never sent a right one wait. */
export const MAX_WRONG_TOKENS = 1_000
export interface ReaderLimits {
  /** Places on unix sockets, the control socket among them. */
  readonly unix: number
  /** Places of this machine over TCP. */
  readonly local: number
  /** Places of other machines. */
  readonly remote: number
  /** Places of one other machine: an IPv4 address, or a /64 of IPv6. */
  readonly perAddress: number
}

/** Readers of events at the same time. */
export const EVENT_READERS: ReaderLimits = { unix: 32, local: 128, remote: 96, perAddress: 32 }
/** How many bytes of events are kept for readers that come back; their number is bounded, too. */
export const MAX_EVENT_RING_BYTES = 8 * 1024 * 1024
/** How many bytes of the last changes are kept, and as many of the last refusals; their number is bounded, too. */
export const MAX_EVENT_HISTORY_BYTES = 1024 * 1024
/** The longest text of one `ledger.changed` event, in bytes. */
export const MAX_CHANGES_BYTES = 64 * 1024
/** How many `rules.refused` events are told a second, and at once; further ones are only counted. */
export const TOLD_REFUSALS = { perSecond: 5, burst: 20 } as const
/** How many `ledger.rejected` events are told a second; further ones are only counted. */
export const REJECTIONS_PER_SECOND = 20
/** How many `ledger.rejected` events are told at once. */
export const REJECTION_BURST = 100
/** How young a heartbeat must be, in ms, to make a node or machine online. */
export const ONLINE_WINDOW_MS = 600_000
/** How old a heartbeat that a caller writes may be, in ms. */
export const MAX_HEARTBEAT_AGE_MS = 600_000
/** How far ahead of the clock a heartbeat that a caller writes may be, in ms. */
export const MAX_HEARTBEAT_AHEAD_MS = 120_000
/** The greatest metric of a route, as the kernel's 32 bits hold it. */
export const MAX_ROUTE_METRIC = 0xffff_ffff
/** How soon after a change of the ledger machines are looked through for state changes, in ms. */
export const MACHINE_CHECK_SOON_MS = 500
/** How often machines are looked through without a change, in ms. */
export const MACHINE_CHECK_INTERVAL_MS = 15_000
/** Machines that are looked at in one step: they take about a millisecond where no heartbeat was read before. */
export const STEP_MACHINES = 128
/** How deep a value may be nested to be served as JSON, since readers recurse; deeper ones are served as text. */
export const MAX_VALUE_DEPTH = 500
/** Bytes of the largest answer from the ledger that is made as one, and kept; larger ones are written in pieces. */
export const MAX_WHOLE_ANSWER_BYTES = 1024 * 1024
/** Characters of one piece of a large answer, about. */
export const ANSWER_PIECE_CHARS = 64 * 1024
/** How long the reader of a large answer may take nothing, in ms. */
export const MAX_LARGE_ANSWER_STALL_MS = 20_000
/** How long a large answer may take in all, in ms. */
export const MAX_LARGE_ANSWER_MS = 600_000
/** Readers of large answers at the same time. */
export const LARGE_ANSWER_READERS: ReaderLimits = { unix: 4, local: 8, remote: 8, perAddress: 2 }
/** How many buckets have their serialised form kept beside that of the whole ledger. */
export const MAX_KEPT_BUCKETS = 64
/** The time, in ms, after which a listening socket that does not answer counts as live. */
export const SOCKET_PROBE_TIMEOUT_MS = 250
/** The time, in ms, after which a machine that is not found, connected and measured counts as unreachable. */
export const PING_TIMEOUT_MS = 10_000
/** The longest time, in ms, in which a member tells what is in a file or folder of it. */
export const LOOK_TIMEOUT_MS = 15_000
/** The longest time over which a profile is taken, in seconds; a connection without bytes is cut soon after. */
export const MAX_PROFILE_SECONDS = 100
/** How many of the things that are wrong with an input an answer names. */
export const MAX_ISSUES = 32
/** How many characters of a wrong input an answer shows. */
export const MAX_SHOWN_VALUE = 80
/** How many writes the node renews by itself. */
export const MAX_KEPT_WRITES = 256
/** How many buckets `/metrics` counts by name. */
export const MAX_BUCKETS_IN_METRICS = 100
/** How many bytes the last blocks have together that are kept with what they changed; their number is bounded, too. */
export const MAX_KEPT_BLOCKS_BYTES = 8 * 1024 * 1024
/** How many bytes of one block are kept. */
export const MAX_KEPT_BLOCK_BYTES = 1024 * 1024
/** How many changes of one block are kept; the others are counted. */
export const MAX_CHANGES_PER_BLOCK = 256
/** How many of the buckets that a block changed are named. */
export const MAX_TOLD_BUCKETS = 8
/** How long the findings of the last examination answer for a new one, in ms. */
export const DOCTOR_KEPT_MS = 5_000
/** How many peers, and how many protocols, have a series of their own in the history of traffic; the others share one. */
export const MAX_FLOW_SERIES = 64
/** How many further providers of one service an answer names. */
export const MAX_SHOWN_PROVIDERS = 64
/** How long a lease that is free may take, in ms, beside the wait that was asked for. */
export const LEASE_ANSWER_MS = 10_000

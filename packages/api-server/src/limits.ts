/** Bounds that we chose for serving the API; the limits that clients see are in the contract. */

/**
 * The longest request line and headers together, in bytes, before the contract's limits for each can be told apart.
 */
export const MAX_REQUEST_HEAD_BYTES = 768 * 1024
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
/** The time that requests get in one turn of the event loop, in ms, of all connections to one listener. */
export const REQUESTS_TURN_MS = 8
/** The number of turns of requests in a row in which a connection comes, from which more of them are likely to wait. */
export const ARRIVALS_IN_ROW = 4
/**
 * How long connections are taken before requests get a turn, in ms: about 800, of which a probe of the node's health may be the
 * last one.
 */
export const ARRIVALS_MS = 32
/** The time that requests get in a turn between such times, in ms. */
export const REQUESTS_BESIDE_ARRIVALS_MS = 4
/** The time that bodies get to be parsed in one turn, in ms, of all listeners together. */
export const BODIES_TURN_MS = 8
/** Bodies of so many bytes get at most one part in `LONG_BODIES_TIME_SHARE` of the time, all together. */
export const LONG_BODY_BYTES = 16 * 1024
export const LONG_BODIES_TIME_SHARE = 2
/** How many connections one listener takes; a program on this machine may open one for each of thousands of calls. */
export const MAX_CONNECTIONS = 16_384
/** How many connections one other machine may have: an IPv4 address, or a /64 of IPv6. */
export const MAX_CONNECTIONS_PER_ADDRESS = 256
/** How many bytes all connections to one listener may have sent of requests that are not read in whole. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024
/** How many of Node's parsers wait to be used again, each with the head that it was in when its connection ended. */
export const MAX_IDLE_PARSERS = 16
/** A connection of which so many bytes were read at once is read on in a turn of its own; Node reads 64 KiB at most. */
export const LONG_READ_BYTES = 16 * 1024
/** How often such connections are read on, a second in the long run (32 MiB) and at once (4 MiB), all of one listener together. */
export const LONG_READS = { perSecond: 512, burst: 64 } as const
/** How many such connections to one listener are read on in one turn of the event loop. */
export const LONG_READS_AT_ONCE = 8
/** How long heads of requests to one listener are read in one turn of the event loop, in ms, before those not read yet wait. */
export const HEADS_TURN_MS = 8
/** How many connections that wait are read on in a turn, at most, and at least. */
export const HEADS_AT_ONCE = 64
export const MIN_HEADS_AT_ONCE = 4
/** How many of these may be ones on which nothing was answered yet: most take twice as long, as they have just come. */
export const NEW_HEADS_AT_ONCE = 16
/** How many of the connections on which something was answered last are read in each turn. */
export const KNOWN_READ_ALWAYS = 16
/** How many requests of one connection are parsed in one turn of the event loop; what is behind them waits. */
export const PIPELINED_AT_ONCE = 32
/** How many requests of all connections to one listener are, before each connection has one in a turn. */
export const ALL_PIPELINED_AT_ONCE = 512
/** A connection ends with so many times as many, of which all that could be the last one of a turn have bodies. */
export const MAX_PIPELINED_TIMES = 8
/** The number of pieces in which bodies of one connection may come in one turn of the event loop: of more it ends. */
export const PIECES_AT_ONCE = 512
/** The number for all connections to one listener together, before each connection has few. */
export const ALL_PIECES_AT_ONCE = 2_048
/** How many pieces are few. */
export const FEW_PIECES_AT_ONCE = 16
/** How often what they have sent is looked at, in ms. */
export const UNREAD_CHECK_MS = 20
/** How many connections wait to be taken; the system may have a lower bound. */
export const LISTEN_BACKLOG = 4_096
/** How long the sender of a request that was answered early may go on, in ms, before its connection is cut. */
export const LINGER_MS = 2_000
/** How long requests in flight may go on, in ms, when the server stops. */
export const STOP_GRACE_MS = 1_000
/** How many writes a second one remote address may make. */
export const WRITES_PER_SECOND = 200
/** How many writes one remote address may make at once. */
export const WRITE_BURST = 1_000
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
/** How many readers of events there may be. */
export const MAX_EVENT_READERS = 128
/** How many of them may come over TCP; the others are for the control socket. */
export const MAX_TCP_EVENT_READERS = 112
/** How many of them other machines may have; the others are for this one. */
export const MAX_REMOTE_EVENT_READERS = 80
/** How many of them one other machine may have: an IPv4 address, or a /64 of IPv6. */
export const MAX_REMOTE_EVENT_READERS_PER_ADDRESS = 32
/** How many bytes of events are kept for readers that come back; their number is bounded, too. */
export const MAX_EVENT_RING_BYTES = 8 * 1024 * 1024
/** How many bytes of the last changes are kept, and as many of the last refusals; their number is bounded, too. */
export const MAX_EVENT_HISTORY_BYTES = 1024 * 1024
/** The longest text of one `ledger.changed` event, in bytes. */
export const MAX_CHANGES_BYTES = 64 * 1024
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
/** The time in ms that looking for them may take in one turn of the event loop. */
export const MACHINES_TURN_MS = 5
/** Machines that are looked at in one step: they take about a millisecond where no heartbeat was read before. */
export const STEP_MACHINES = 128
/** How deep a value may be nested to be served as JSON, since readers recurse; deeper ones are served as text. */
export const MAX_VALUE_DEPTH = 500
/** Bytes of the largest answer from the ledger that is made as one, and kept; larger ones are written in pieces. */
export const MAX_WHOLE_ANSWER_BYTES = 1024 * 1024
/** Characters of one piece of a large answer, about. */
export const ANSWER_PIECE_CHARS = 64 * 1024
/** All large answers together get at most one part in this many of the time. */
export const LARGE_ANSWERS_TIME_SHARE = 2
/** The time that they may use at once, in ms: 10 ms go by until other work has its turn, as half comes back meanwhile. */
export const LARGE_ANSWERS_BURST_MS = 5
/** How long the reader of a large answer may take nothing, in ms. */
export const MAX_LARGE_ANSWER_STALL_MS = 20_000
/** How long a large answer may take in all, in ms. */
export const MAX_LARGE_ANSWER_MS = 600_000
/** How many may read large answers at the same time: in all, over TCP, from other machines, and from one of these. */
export const LARGE_ANSWER_SEATS = { all: 16, tcp: 12, remote: 8, perAddress: 2 }
/** How many buckets have their serialised form kept beside that of the whole ledger. */
export const MAX_KEPT_BUCKETS = 64
/** The time, in ms, after which a listening socket that does not answer counts as live. */
export const SOCKET_PROBE_TIMEOUT_MS = 250
/** The time, in ms, after which a machine that is not found, connected and measured counts as unreachable. */
export const PING_TIMEOUT_MS = 10_000
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

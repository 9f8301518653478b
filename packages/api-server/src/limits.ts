/** What we chose for serving the API; the limits that clients see are in the contract. */

/** Request line and headers together, before the contract's limits for each can be told apart. */
export const MAX_REQUEST_HEAD_BYTES = 768 * 1024
/** Header lines of one request. */
export const MAX_HEADER_LINES = 1000
/** From the connection, or the end of the last request, to the end of the headers. */
export const HEADERS_TIMEOUT_MS = 10_000
/** To the end of the body. */
export const REQUEST_TIMEOUT_MS = 30_000
/** How often those two are checked. */
export const TIMEOUT_CHECK_INTERVAL_MS = 1_000
/** A connection without a request stays this long. */
export const KEEP_ALIVE_TIMEOUT_MS = 15_000
/** A connection whose other side takes or sends nothing is cut; longer than any `wait`. */
export const SOCKET_IDLE_TIMEOUT_MS = 120_000
/** Connections of one listener; a program on this machine may open one for each of thousands of calls. */
export const MAX_CONNECTIONS = 16_384
/** Connections of one address of another machine. */
export const MAX_CONNECTIONS_PER_ADDRESS = 256
/** Connections that wait to be taken; the system may have a lower bound. */
export const LISTEN_BACKLOG = 4_096
/** After an answer to what was not all sent: how long its sender may go on before the connection is cut. */
export const LINGER_MS = 2_000
/** Requests in flight get this long when the server stops. */
export const STOP_GRACE_MS = 1_000
/** Writes of one remote address: refilled each second, and at once. */
export const WRITES_PER_SECOND = 200
export const WRITE_BURST = 1_000
/** Remote addresses whose writes are counted; beyond, the one heard longest ago starts anew. */
export const MAX_RATED_ADDRESSES = 10_000
/** Readers of events. */
export const MAX_EVENT_READERS = 128
/** All events kept for readers that come back, beside their number. */
export const MAX_EVENT_RING_BYTES = 8 * 1024 * 1024
/** The last changes that are kept, and as much for the last refusals, beside their number. */
export const MAX_EVENT_HISTORY_BYTES = 1024 * 1024
/** The text of one `ledger.changed` event. */
export const MAX_CHANGES_BYTES = 64 * 1024
/** `ledger.rejected` events: refilled each second, and at once; further ones are only counted. */
export const REJECTIONS_PER_SECOND = 20
export const REJECTION_BURST = 100
/** A heartbeat this young makes a node or machine online. */
export const ONLINE_WINDOW_MS = 600_000
/** A heartbeat that a caller writes may be this old, and this far ahead of the clock. */
export const MAX_HEARTBEAT_AGE_MS = 600_000
export const MAX_HEARTBEAT_AHEAD_MS = 120_000
/** The bits of a kernel's metric. */
export const MAX_ROUTE_METRIC = 0xffff_ffff
/** After a change in the ledger, and without one: how soon machines are looked through for state changes. */
export const MACHINE_CHECK_SOON_MS = 500
export const MACHINE_CHECK_INTERVAL_MS = 15_000
/** Values nested deeper are served as text: readers of JSON recurse. */
export const MAX_VALUE_DEPTH = 500
/** Buckets whose serialised form is kept beside that of the whole ledger. */
export const MAX_KEPT_BUCKETS = 64
/** A listening socket that does not answer within this time counts as live. */
export const SOCKET_PROBE_TIMEOUT_MS = 250
/** A machine that takes longer to be found, connected and measured counts as unreachable. */
export const PING_TIMEOUT_MS = 10_000
/** What an answer shows of a wrong input. */
export const MAX_SHOWN_VALUE = 80
/** Buckets that `/metrics` counts by name. */
export const MAX_BUCKETS_IN_METRICS = 100

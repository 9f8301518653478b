/** Bounds and times of this package. What the DNS protocol fixes is said so; the rest is our choice. */

// Names

/** RFC 1035: bytes of a label, and of a name as it is sent. */
export const MAX_LABEL_BYTES = 63
export const MAX_NAME_BYTES = 255
/** Seconds that others may keep an answer of this network: addresses change within seconds. */
export const RECORD_TTL_S = 30
/** Seconds that others may keep that a name of this network does not exist. */
export const NEGATIVE_TTL_S = 10
/** CNAMEs in a row that are followed. */
export const MAX_CNAME_CHAIN = 8

// Patterns

/** Patterns of all members; the oldest stay. */
export const MAX_PATTERNS = 10_000
/** Steps of one compiled pattern: about 10 ms to compile, and 1 ms for the longest name. */
export const MAX_PATTERN_STEPS = 2_000
/** Bytes of a `dns` entry's value that are read. */
export const MAX_RECORDS_BYTES = 65_536
/** Steps of all patterns that one name is held against, the strongest first: 0.1 s at most, in slices. */
export const MAX_NAME_STEPS = 100_000
/** Names whose patterns are remembered. */
export const MAX_MATCHED_NAMES = 2_000
/** Compiling and matching patterns for one question gives way to other work after this time. */
export const COMPILE_SLICE_MS = 5
/** Changes of the ledger that come within this time make one zone. */
export const REBUILD_DELAY_MS = 20
/** Building zones takes at most one part in this many of the time, however fast the ledger changes, */
export const REBUILD_TIME_SHARE = 4
/** but what the ledger says is answered after this time at the latest. */
export const MAX_REBUILD_DELAY_MS = 200
/** Machines and services whose names are given. */
export const MAX_NAMED_ENTRIES = 50_000

// Messages

/** RFC 1035: bytes over UDP for clients that say nothing else. */
export const MIN_UDP_BYTES = 512
/** Bytes over UDP that pass every network unfragmented (DNS flag day 2020); what this node advertises, too. */
export const MAX_UDP_BYTES = 1232
/** Protocol: the length of a message over TCP is 16 bits. */
export const MAX_TCP_BYTES = 65_535
/** Records in the additional section of a query: OPT and a signature. */
export const MAX_QUERY_ADDITIONALS = 2

// Server

/** Prepared answers of this network's names that are kept. */
export const MAX_PREPARED_ANSWERS = 10_000
/** Questions that wait for patterns to be compiled. */
export const MAX_WAITING_QUESTIONS = 1_000
export const MAX_TCP_CONNECTIONS = 256
export const MAX_TCP_CONNECTIONS_PER_ADDRESS = 32
/** Questions of one connection that are being answered; more wait in the connection. */
export const MAX_TCP_PIPELINED = 64
/** Answers that a connection's client has not read. */
export const MAX_TCP_UNREAD_BYTES = 262_144
/** RFC 7766 asks for a few seconds. */
export const TCP_IDLE_MS = 10_000
/** What the kernel keeps of questions that come faster than they are read. */
export const UDP_BUFFER_BYTES = 1_048_576
/** UDP answers a second to one network (/24, /64) outside loopback and the VPN, so that forged sources gain nothing. */
export const ANSWERS_PER_SECOND = 50
export const ANSWER_BURST = 200
/** The same to all such networks together. */
export const OUTSIDE_ANSWERS_PER_SECOND = 2_000
export const MAX_RATED_NETWORKS = 10_000
/** One in so many answers over the rate goes out truncated: a real client asks again over TCP. */
export const RATE_SLIP = 2

// Forwarder

export const MAX_FORWARDS = 1_000
/** Of one client network (/24, /64), unless it is this machine. */
export const MAX_FORWARDS_PER_CLIENT = 100
/** Questions in flight that ask the same and wait together. */
export const MAX_FORWARD_WAITERS = 10_000
/** One server has this long to answer over UDP, */
export const UDP_TRY_MS = 1_500
/** over TCP this long, */
export const TCP_TRY_MS = 3_000
/** and all of them together. Clients give up after 5 s. */
export const FORWARD_MS = 4_500
/** Tries of one question. */
export const MAX_FORWARD_TRIES = 4
/** A server that failed is asked last for this long. */
export const SERVER_PENALTY_MS = 30_000
export const MAX_FORWARD_SERVERS = 64
/** Longest that an answer is kept, whatever its TTL. */
export const MAX_CACHE_S = 86_400
/** The same for answers that something does not exist. */
export const MAX_NEGATIVE_CACHE_S = 900
/** A failure is remembered this long, so that a name that cannot be resolved costs its servers little (RFC 9520). */
export const FAILURE_CACHE_S = 2
/** Longer answers are passed on and not kept. */
export const MAX_CACHED_BYTES = 4_096
export const DEFAULT_CACHE_ENTRIES = 1_000
/** A problem with the servers is told while the last failure is younger. */
export const FAILING_TOLD_MS = 60_000

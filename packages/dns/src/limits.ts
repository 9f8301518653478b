/** Bounds and times of this package. What the DNS protocol fixes is said so; the rest is our choice. */
import type { RateInit, ScopeLimits } from '@mesh/core/limits'

// Names

/** The longest label of a name in bytes (RFC 1035). */
export const MAX_LABEL_BYTES = 63
/** The longest name in bytes, as it is sent (RFC 1035). */
export const MAX_NAME_BYTES = 255
/** How long others may keep an answer of this network, in seconds: addresses change within seconds. */
export const RECORD_TTL_S = 30
/** How long others may keep that a name of this network does not exist, in seconds. */
export const NEGATIVE_TTL_S = 10
/** How many CNAMEs in a row are followed. */
export const MAX_CNAME_CHAIN = 8

// Patterns

/** How many patterns of all members are used; the oldest stay. */
export const MAX_PATTERNS = 10_000
/** How many bytes of a `dns` entry's value are read. */
export const MAX_RECORDS_BYTES = 65_536
/** How many steps of all patterns one name is held against, the strongest first: 0.1 s at most, in slices. */
export const MAX_NAME_STEPS = 100_000
/** How many values that cannot be read are tried for one question: each may have 64 KiB. */
export const MAX_UNREADABLE_VALUES = 4
/** How many names are remembered with the patterns that match them. */
export const MAX_MATCHED_NAMES = 2_000
/** How many patterns are remembered in all as tried for names. */
export const MAX_TRIED_CANDIDATES = 100_000
/** How many steps compiled patterns have together: those that were not needed for longest are compiled anew. */
export const MAX_COMPILED_STEPS = 200_000
/** The time, in ms, within which changes of the ledger make one zone. */
export const REBUILD_DELAY_MS = 20
/** Building zones takes at most one part in this many of the time, however fast the ledger changes. */
export const REBUILD_TIME_SHARE = 4
/** Entries that are looked at in one step of building: they take about a millisecond where none was read before. */
export const STEP_ENTRIES = 64
/** Characters of patterns that are read in one step of building: they take about half a millisecond. */
export const STEP_PATTERN_CHARS = 4_096
/** The time, in ms, after which a change of the ledger is answered at the latest. */
export const MAX_REBUILD_DELAY_MS = 200
/** How many machines and services get names. */
export const MAX_NAMED_ENTRIES = 50_000
/** How many members beside the owner of a service's name have addresses in its answer. */
export const MAX_FURTHER_PROVIDERS = 7

// Messages

/** The longest answer over UDP, in bytes, for clients that name no other length (RFC 1035). */
export const MIN_UDP_BYTES = 512
/**
 * The longest answer over UDP, in bytes, which every network passes unfragmented (DNS flag day 2020); this node
 * advertises it, too.
 */
export const MAX_UDP_BYTES = 1232
/** The longest message over TCP, in bytes: the protocol writes its length in 16 bits. */
export const MAX_TCP_BYTES = 65_535
/** How many records the additional section of a query may have: OPT and a signature. */
export const MAX_QUERY_ADDITIONALS = 2

// Server

/** How many prepared answers of this network's names are kept. */
export const MAX_PREPARED_ANSWERS = 10_000
/** How many bytes they have together: a name that matches a pattern has an answer of 64 KiB where a member wants it. */
export const MAX_PREPARED_BYTES = 8_388_608
/** How many questions wait for patterns to be compiled. */
export const MAX_WAITING_QUESTIONS = 1_000
/** TCP connections: of all clients, and of one network (/24, /64) or of this machine. */
export const TCP_CONNECTIONS = { all: 256, perAddress: 64 } satisfies ScopeLimits
/** How many questions of one connection are being answered at a time; more wait in the connection. */
export const MAX_TCP_PIPELINED = 64
/** How many bytes of answers a connection's client may leave unread. */
export const MAX_TCP_UNREAD_BYTES = 262_144
/** The time, in ms, after which an idle connection ends; RFC 7766 asks for a few seconds. */
export const TCP_IDLE_MS = 10_000
/** How many bytes the kernel keeps of questions that come faster than they are read. */
export const UDP_BUFFER_BYTES = 1_048_576
/** Networks that are remembered with their rates. */
export const MAX_RATED_NETWORKS = 10_000
/** UDP answers to networks (/24, /64) outside loopback and the VPN. Forged source addresses gain nothing by so few. */
export const OUTSIDE_ANSWERS = {
  perAddress: { perSecond: 50, burst: 200 },
  byNetwork: true,
  all: { perSecond: 2_000, burst: 2_000 },
  maxRemembered: MAX_RATED_NETWORKS,
} satisfies RateInit
/** One in this many answers over the rate goes out truncated: a real client asks again over TCP. */
export const RATE_SLIP = 2

// Forwarder

/** How many questions are being forwarded at a time. */
export const MAX_FORWARDS = 1_000
/** How many questions of one client network (/24, /64) are being forwarded at a time, unless it is this machine. */
export const MAX_FORWARDS_PER_CLIENT = 100
/** How many questions wait for an answer that others have asked for already. */
export const MAX_FORWARD_WAITERS = 10_000
/** How many records an answer has that a CNAME of this network is followed by: each may be a name of many pointers. */
export const MAX_FOLLOWED_RECORDS = 128
/** How long one server may take to answer over UDP, in ms. */
export const UDP_TRY_MS = 1_500
/** How long one server may take to answer over TCP, in ms. */
export const TCP_TRY_MS = 3_000
/** How long all servers together may take, in ms: clients give up after 5 s. */
export const FORWARD_MS = 4_500
/** How often one question is tried. */
export const MAX_FORWARD_TRIES = 4
/** How long a server that failed is asked last, in ms. */
export const SERVER_PENALTY_MS = 30_000
/** How many servers are used. */
export const MAX_FORWARD_SERVERS = 64
/** How long an answer is kept at the longest, in seconds, whatever its TTL. */
export const MAX_CACHE_S = 86_400
/** How long an answer that something does not exist is kept at the longest, in seconds. */
export const MAX_NEGATIVE_CACHE_S = 900
/**
 * How long a failure is remembered, in seconds, so that a name that cannot be resolved costs its servers little (RFC
 * 9520).
 */
export const FAILURE_CACHE_S = 2
/** The longest answer that is kept, in bytes; longer ones are passed on only. */
export const MAX_CACHED_BYTES = 4_096
/** How many answers are kept unless the caller says otherwise. */
export const DEFAULT_CACHE_ENTRIES = 1_000
/** How long after the last failure a problem with the servers is told, in ms. */
export const FAILING_TOLD_MS = 60_000

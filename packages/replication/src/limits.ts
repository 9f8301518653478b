/** Bounds and constants of replication. First what the protocols fix, then what we chose. */
import type { Rate, RateInit, ScopeLimits } from '@mesh/core/limits'

/** Protocol id of range reconciliation between two members (docs/PROTOCOLS.md, 'Replication'). */
export const REPLICATION_PROTOCOL = '/mesh/replication/1'

// --- a reconciliation session -------------------------------------------------------------------------------

/** How many parts a differing range is cut into. */
export const RANGE_FANOUT = 16
/** A range in which this node holds at most this many entries is answered by a list instead of fingerprints. */
export const LEAF_ENTRIES = 32
/** Bytes at which a sync message is sent. The next follows the remote's answer, so this is all that is in flight. */
export const MESSAGE_BYTES = 192 * 1024
/** Bytes of the longest sync message that is taken: `MESSAGE_BYTES`, and the largest entry that went over it. */
export const MAX_SYNC_MESSAGE_BYTES = 384 * 1024
/** Items of the longest list that is taken for one range. */
export const MAX_LIST_ITEMS = 256
/** Ranges that one message may ask about. Each is answered with up to 16, which wait until then. */
export const MAX_RANGES_IN_MESSAGE = 512
/** Lists that one message may hold. */
export const MAX_LISTS_IN_MESSAGE = 256
/** Parts of any kind that one message may hold, items of lists among them: of those there is room for some 10,000. */
export const MAX_MESSAGE_ITEMS = 16_384
/** Fields of one part beside the items of a list: later versions may have more than the seven of now. */
export const MAX_PART_FIELDS = 32
/** UTF-16 code units of the longest bucket name in a message. */
export const MAX_BUCKET_UNITS = 256
/** UTF-16 code units of the longest key in a message. */
export const MAX_KEY_UNITS = 1024
/** Entries of a session that are given to the ledger at once: about as many signatures as are checked in 10 ms. */
export const MERGE_SLICE_ENTRIES = 32
/** Messages of one session between ledgers of `MAX_LEDGER_ENTRIES`: twice what two without a common entry need. */
export const MAX_SESSION_MESSAGES = 8_192
/** Messages in a row that may say 'more' and bring nothing. */
export const MAX_IDLE_MESSAGES = 3
/** Entries of this ledger that are looked at for a remote before other work may have its turn: 100 us of work. */
export const WALK_STEP_ENTRIES = 256
/**
 * Ranges that may wait for their answer: twice what two ledgers without a common entry need. With more of them the remote
 * asks without listening.
 */
export const MAX_PENDING_TASKS = 4_096
/** Entries with a broken form or signature that an honest member may send in one session. */
export const MAX_BAD_ENTRIES = 64
/** Entries that a ledger holds unless its node is told to hold more. A session serves ledgers of this size at least. */
export const MAX_LEDGER_ENTRIES = 200_000
/** How long the remote of a session may be silent, in ms. */
export const MESSAGE_TIMEOUT_MS = 30_000
/** How long a whole session may last, in ms. What is missing then comes with the next. */
export const SESSION_TIMEOUT_MS = 10 * 60_000
/** Sessions that others opened and that run. Keys cost nothing, so an address is bounded, too. */
export const SESSIONS = { all: 64, perAddress: 32, evict: 'oldest' } satisfies ScopeLimits
const perMinute = (most: number): Rate => ({ perSecond: most / 60, burst: most })
/** Authors and peers of which something is remembered; the one heard longest ago is forgotten first. */
export const MAX_MEMBERS_REMEMBERED = 1024
/** Sessions that others may open. */
export const SESSION_RATES = {
  perPeer: perMinute(30),
  perAddress: perMinute(300),
  all: perMinute(600),
  maxRemembered: MAX_MEMBERS_REMEMBERED,
} satisfies RateInit
/**
 * Ranges, items of lists, wants and entries that may wait for an answer in all sessions together, of some 300 bytes each:
 * eight times what one message may hold.
 */
export const PENDING_PARTS = { all: 65_536, evict: 'largest' } satisfies ScopeLimits
/** Sessions that this node opens at a time; those that are slow hold nobody up, and do not count. */
export const MAX_OWN_SESSIONS = 4
/** How long a remote may keep a session waiting in all, in ms, before the session is slow. */
export const SLOW_SESSION_MS = 500
/** How long a remote may keep a session waiting for each entry that it brings, in ms. */
export const ENTRY_WAIT_MS = 10
/** Slow sessions of this node's own that may go on at a time; of more the one that has been slow for longest makes way. */
export const MAX_SLOW_OWN_SESSIONS = 48
/** How long a slow session of this node's own may go on where another one needs its place, in ms. */
export const STALE_SESSION_MS = 20_000

/** Bytes of an entry's hash that lists and refusals carry. */
export const SHORT_HASH_BYTES = 16
/** Hashes of refused entries that are remembered: as many of ours, and as many of all peers'. */
export const REFUSALS_REMEMBERED = 16_384
/** How long a refusal stands that time may change, in ms. */
export const REFUSAL_RETRY_MS = 60_000
/** How long a refusal stands that hangs on a lease, as a share of the lease: what it ends may be refused no longer. */
export const REFUSAL_LEASE_SHARE = 5 / 8
/** How long any other refusal stands, in ms. */
export const REFUSAL_KEPT_MS = 60 * 60_000

// --- the topic ---------------------------------------------------------------------------------------------

/** Bytes of JSON at which a published block is cut; what is left goes into further ones. */
export const PUBLISH_BYTES = 512 * 1024
/** Bytes that one gossip message may inflate to: room for 100,000 signed entries. */
export const MAX_INFLATED_BYTES = 40 * 1024 * 1024
/** Bytes that messages may take that wait to be judged or are inflated, all together, unless the node is told others. */
export const GOSSIP_MEMORY_BYTES = 64 * 1024 * 1024
/** The number that each waiting message counts for in bytes besides its own, however short it is. */
export const WAITING_MESSAGE_BYTES = 4096
/** Messages that are inflated and judged at a time. */
export const MAX_PARALLEL_BLOCKS = 2
/** A message that inflates to no more bytes is small: of two that are judged one is small, so that none waits long. */
export const SMALL_BLOCK_BYTES = 32 * 1024
/** Bytes that the larger messages of one peer may inflate to: the burst is one message of the greatest size. */
export const INFLATED_BYTES_RATE = {
  perPeer: { perSecond: 4 * 1024 * 1024, burst: MAX_INFLATED_BYTES },
  maxRemembered: MAX_MEMBERS_REMEMBERED,
} satisfies RateInit
/** Small messages of one peer that are judged. */
export const SMALL_BLOCKS_RATE = {
  perPeer: { perSecond: 200, burst: 2_000 },
  maxRemembered: MAX_MEMBERS_REMEMBERED,
} satisfies RateInit
/** How long a block that equals the author's last one is skipped, in ms. Later, time may have changed its verdict. */
export const REPEATED_BLOCK_MS = 60_000

/** How old a heartbeat may be that shows its author to be a member, in ms. */
export const FRESH_HEARTBEAT_MS = 10 * 60_000
/** The same for an entry of `users`, which some legacy members write once and never a heartbeat (docs/WIRE.md D30). */
export const FRESH_USER_MS = 24 * 60 * 60_000

// --- legacy members ----------------------------------------------------------------------------------------

/** How long a legacy member counts as present after it was heard, in ms. */
export const LEGACY_MEMBER_MS = 10 * 60_000
/** How often the elected node sends the whole ledger while a legacy member is about, in ms. */
export const WHOLE_LEDGER_INTERVAL_MS = 10_000
/** Average interval in which a member that was not elected sends it anyway, in ms: the elected member may send nothing. */
export const WHOLE_LEDGER_SPARE_MS = 5 * 60_000
/** Bytes a second that whole ledgers may take on average; after a large one the sender waits longer. */
export const WHOLE_LEDGER_BYTES_PER_S = 512 * 1024
/** How long another sender that would win the election keeps this node silent after it was heard, in ms. */
export const WHOLE_LEDGER_HEARD_MS = 15_000
/** How often the topic is looked at for new members, in ms. */
export const TOPIC_POLL_MS = 2_000
/** How long a new member on the topic has to show that it speaks `REPLICATION_PROTOCOL`, in ms. */
export const NEWCOMER_GRACE_MS = 3_000
/** Least time between two times that own entries are sent again to legacy newcomers, in ms. */
export const REPUBLISH_INTERVAL_MS = 10_000

// --- catching up ------------------------------------------------------------------------------------------

/** How often each node compares digests with one random peer, in ms; it costs about 250 bytes. */
export const DIGEST_CHECK_INTERVAL_MS = 60_000
/** How long the one with the greater id of two that met waits for the other to begin, in ms. */
export const SECOND_CALLER_MS = 3_000
/** Peers that are asked, or are to be, with which each that is met is asked at once. */
export const FEW_JOINED = 8
/** How much later it is asked for each peer beyond these, in ms. */
export const JOINED_FOR_EACH_MS = 250
/** How much later it is asked at most, in ms. */
export const JOINED_MOST_MS = 10_000
/**
 * Interval in which the node asks a connected member that does not hear it on the topic, in ms. Two members whose clocks differ
 * by more than a window of the topic do not hear each other there.
 */
export const UNHEARD_CHECK_INTERVAL_MS = 5_000
/** How often a node looks whether its clock was set, in ms. */
export const CLOCK_LOOK_MS = 2_000
/** A step of this machine's time of day by more than this, in ms, is no drift. */
export const CLOCK_STEP_MS = 1_000
/** The same of a peer's, as told over the network. */
export const PEER_CLOCK_STEP_MS = 10_000
/** Peers that are asked soon after a session that brought news, so that a healed partition heals everywhere. */
export const SPREAD_PEERS = 3
/** How long after such a session they are asked, in ms. */
export const SPREAD_DELAY_MS = 1_000
/** How often it is as short in a row; then it doubles each time, as where many machines start together all bring news. */
export const QUICK_SPREADS = 4
/** The longest such delay, in ms. */
export const SPREAD_MOST_MS = 16_000
/** How long nobody was asked so, in ms, until the delay is the shortest again. */
export const SPREAD_CALM_MS = 30_000
/** How long after a failed session its peer is asked again, in ms; doubled with each further failure. */
export const RETRY_MS = 2_000
/** The longest wait before a peer whose sessions fail is asked again, in ms. */
export const MAX_RETRY_MS = 60_000
/** How long two states that a session could not make equal are not compared again, in ms. */
export const KNOWN_DIFFERENCE_MS = 5 * 60_000
/**
 * How long a refusal for a live owner's sake waits before that owner is told of the claim, in ms: the two may have
 * agreed by then.
 */
export const CONTESTED_DELAY_MS = 5_000
/** The number of members on the topic up to which it waits no longer; with twice as many it may wait twice as long, at random. */
export const CONTESTED_CROWD = 8
/** How many times as long it waits at most. */
export const CONTESTED_MOST_CROWDS = 6
/** Claims that may wait to be told to the owner. */
export const MAX_CONTESTED = 256
/** How long a peer that broke the protocol is left alone, in ms. */
export const FAULT_PAUSE_MS = 10 * 60_000

// --- coming back ------------------------------------------------------------------------------------------

/** How long nobody may be on the topic before a starting node takes itself for alone and begins, in ms. */
export const ALONE_MS = 5_000
/** The same as `ALONE_MS` where the node knows of nobody whom it could meet. */
export const ALONE_UNKNOWN_MS = 1_000
/** The same as `ALONE_MS` while a peer is being met: dialled for the first time, or connected and not yet a member. */
export const ALONE_MEETING_MS = 15_000
/** How long a node that starts among legacy members only waits for one whole ledger, in ms. */
export const LEGACY_LEDGER_WAIT_MS = 20_000
/** How long a first session may hold back heartbeat and claims, in ms. */
export const FIRST_SESSION_MS = 2 * 60_000

// --- heartbeats, leader, reaper: the intervals that the network fixes (docs/WIRE.md 4.4 and 4.8) -------------------

/** How long an owner is alive after its heartbeat, in ms. */
export const LIVENESS_MS = 480_000
/** Heartbeats that a liveness window must have room for. */
export const HEARTBEATS_PER_LEASE = 4
/** How often a node says that it is alive, in ms. */
export const HEARTBEAT_INTERVAL_MS = 120_000
/** The same while a legacy member is about, in ms: some have a window of 120 s. */
export const LEGACY_HEARTBEAT_INTERVAL_MS = 40_000
/**
 * The interval of collecting: at multiples of this time, in ms, every node looks for what to collect, and the
 * leader for what to reap.
 */
export const SCRUB_INTERVAL_MS = 600_000
/** How long other work has its turn where more is left to be collected, in ms. */
export const SCRUB_REST_MS = 20
/** How often a node with ownership `off` sends its last block, in ms. */
export const OFF_SYNC_INTERVAL_MS = 10_000
/** The time over which members with ownership `off` spread the repetition of what one block took from them all, in ms. */
export const OFF_REPEAT_SPREAD_MS = 1_000

/** The longest time, in ms, in which a node that ends tells the others so. */
export const LEAVE_MS = 1_000

// --- announcing -------------------------------------------------------------------------------------------

/** How long a key that was given up in a race is left alone, in ms: by then the other's word for it is found. */
export const YIELD_PAUSE_MS = 2 * 60_000
/** How long after others ended names of this node it writes them again, in ms: once for several, and after its heartbeat. */
export const NAMES_PAUSE_MS = 3_000
/** The longest wait before a key that another holds is tried again, in ms. */
export const ANNOUNCE_RETRY_MS = 10_000
/** The least wait before a key that another holds is tried again, in ms. */
export const ANNOUNCE_LEAST_RETRY_MS = 1_000

// --- two processes with one identity ------------------------------------------------------------------------

/** How long a process waits after its last word before it asks or answers whether another uses its identity, in ms. */
export const IDENTITY_ANSWER_MS = 5_000
/** How often a process that has asked compares ledgers for an answer, in ms. */
export const IDENTITY_LISTEN_MS = 5_000
/** The wait of a process between two words once it knows that there is another, in ms. */
export const IDENTITY_RENEW_MS = 60_000
/** How long after the last word of another process this is over, in ms: two heartbeats and more. */
export const IDENTITY_FORGET_MS = 5 * 60_000
/** Processes that one entry names. */
export const MAX_IDENTITY_PROCESSES = 4
/** Members that are remembered as having such an identity. */
export const MAX_SHARED_IDENTITIES = 64
/** How often a member with such an identity is logged, a second and at once. */
export const SHARED_IDENTITY_LOG_RATE = { perSecond: 1 / 60, burst: 5 } as const

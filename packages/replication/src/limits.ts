/** Bounds and constants of replication. First what the protocols fix, then what we chose. */

/** Range reconciliation between two members; its turns are described in `turn.ts`. */
export const REPLICATION_PROTOCOL = '/mesh/replication/1'

// --- a reconciliation session -------------------------------------------------------------------------------

/** A differing range is cut into this many parts. */
export const RANGE_FANOUT = 16
/** A range with at most this many own entries is answered by a list instead of fingerprints. */
export const LEAF_ENTRIES = 32
/** A turn is sent when it is this long; the next follows the remote's answer, so this is all that is in flight. */
export const TURN_BYTES = 192 * 1024
/** Longest turn taken: `TURN_BYTES` and the one largest entry that went over it. */
export const MAX_TURN_BYTES = 384 * 1024
/** Longest list taken in one range. */
export const MAX_LIST_ITEMS = 256
/** Ranges in one turn: all are answered with up to 16 each, and wait until then. */
export const MAX_RANGES_IN_TURN = 512
/** Lists in one turn. */
export const MAX_LISTS_IN_TURN = 256
/** Parts of any kind in one turn. */
export const MAX_TURN_ITEMS = 16_384
/** UTF-16 code units of a bucket's and a key's name. */
export const MAX_BUCKET_UNITS = 256
export const MAX_KEY_UNITS = 1024
/** Entries of a session that are given to the ledger at once: about as many signatures as are checked in 10 ms. */
export const MERGE_SLICE_ENTRIES = 32
/** Heartbeats that the periodic check looks at. */
export const MAX_HEARTBEATS_COMPARED = 10_000
/** Turns of one session between ledgers of that size: twice what two full ones without a common entry need. */
export const MAX_SESSION_TURNS = 8_192
/** Turns in a row that say 'more' and bring nothing. */
export const MAX_IDLE_TURNS = 3
/** Ranges that wait for their answer; more means that the remote asks without listening. */
export const MAX_PENDING_TASKS = 8_192
/** Entries with a broken form or signature in one session; then the remote is no honest member. */
export const MAX_BAD_ENTRIES = 64
/** Entries that a ledger holds unless its node is told to hold more; a session serves ledgers of this size at least. */
export const MAX_LEDGER_ENTRIES = 200_000
/** Silence of the remote in a session. */
export const TURN_TIMEOUT_MS = 30_000
/** A whole session; what is missing then comes with the next. */
export const SESSION_TIMEOUT_MS = 10 * 60_000
/** Sessions that one peer may open in a minute, and at once. */
export const SESSIONS_PER_MINUTE = 30
/** Sessions of our own at a time. */
export const MAX_OWN_SESSIONS = 4

/** Bytes of an entry's hash that lists and refusals carry. */
export const SHORT_HASH_BYTES = 16
/** Hashes of refused entries that are remembered, ours and theirs each. */
export const REFUSALS_REMEMBERED = 16_384
/** A refusal that time may change is tried again after this. */
export const REFUSAL_RETRY_MS = 60_000
/** A refusal that hangs on a lease is tried again after this (less than the lease). */
export const REFUSAL_LEASE_MS = 5 * 60_000
/** Any other refusal stands this long. */
export const REFUSAL_KEPT_MS = 60 * 60_000

// --- the room ---------------------------------------------------------------------------------------------

/** One published block's JSON; longer lists of entries are cut. */
export const PUBLISH_BYTES = 512 * 1024
/** What one message may inflate to ('Bounds'). */
export const MAX_INFLATED_BYTES = 64 * 1024 * 1024
/** Messages of one author that wait to be judged, and their bytes. */
export const MAX_WAITING_MESSAGES = 256
export const MAX_WAITING_BYTES = 32 * 1024 * 1024
/** An author's block that equals its last one is skipped for this long; later, time may have changed its verdict. */
export const REPEATED_BLOCK_MS = 60_000
/** Authors and peers that are remembered. */
export const MAX_MEMBERS_REMEMBERED = 1024
/** Inflating and checking give way to other work after this time. */
export const SLICE_MS = 10

// --- older members ----------------------------------------------------------------------------------------

/** A member that does not speak `/mesh/replication` counts as present this long after it was heard. */
export const OLDER_MEMBER_MS = 10 * 60_000
/** The elected one of us sends the whole ledger this often while an older member is about, */
export const WHOLE_LEDGER_INTERVAL_MS = 10_000
/** but never more bytes a second than this on average. */
export const WHOLE_LEDGER_BYTES_PER_S = 512 * 1024
/** Another sender that was heard within this time, and stands before us by `Leader`, makes us keep silent. */
export const WHOLE_LEDGER_HEARD_MS = 15_000
/** How often the topic is looked at for new members. */
export const TOPIC_POLL_MS = 2_000
/** A new member on the topic has this long to show that it speaks `/mesh/replication`. */
export const NEWCOMER_GRACE_MS = 3_000
/** Own entries are sent again to older newcomers at most this often. */
export const REPUBLISH_INTERVAL_MS = 10_000

// --- catching up ------------------------------------------------------------------------------------------

/** Each node compares digests with one random peer this often: about 250 bytes each time. */
export const DIGEST_CHECK_INTERVAL_MS = 60_000
/** Of two that met, the one with the greater id waits this long for the other to begin. */
export const SECOND_CALLER_MS = 3_000
/** After a session that brought news, this many further peers are asked soon, so that a healed partition heals at once. */
export const SPREAD_PEERS = 3
export const SPREAD_DELAY_MS = 1_000
/** A peer whose session failed is asked again after this, doubled with each failure, */
export const RETRY_MS = 2_000
/** up to this. */
export const MAX_RETRY_MS = 60_000
/** Two states that a session could not make equal are not compared again for this long. */
export const SETTLED_MS = 5 * 60_000
/** What a peer refused for a live owner's sake is told to that owner within this time, unless it is settled by then, */
export const CONTESTED_DELAY_MS = 5_000
/** this many entries at a time. */
export const MAX_CONTESTED = 256
/** A peer that broke the protocol is left alone for this long. */
export const FAULT_PAUSE_MS = 10 * 60_000

// --- coming back ------------------------------------------------------------------------------------------

/** Without anybody on the topic for this long, a node is alone and begins. */
export const ALONE_MS = 5_000
/** The same, where it knows of nobody whom it could meet. */
export const ALONE_UNKNOWN_MS = 1_000
/** With older members only, one whole ledger is waited for this long. */
export const OLDER_LEDGER_WAIT_MS = 20_000
/** A first session that lasts longer no longer holds back heartbeat and claims. */
export const FIRST_SESSION_MS = 2 * 60_000

// --- heartbeats, leader, reaper: the intervals that the network fixes (wire document, 4.4 and 4.8) ----------

/** An owner is alive this long after its heartbeat. */
export const LIVENESS_MS = 480_000
/** A liveness window must hold this many heartbeats. */
export const HEARTBEATS_PER_LEASE = 4
export const HEARTBEAT_INTERVAL_MS = 120_000
/** While an older member is about: some have a window of 120 s. */
export const OLDER_HEARTBEAT_INTERVAL_MS = 40_000
/** By default every node looks for what to collect, and the leader for what to reap, at multiples of this time. */
export const SCRUB_INTERVAL_MS = 600_000
/** Ownership `off`: the last block is sent this often. */
export const OFF_SYNC_INTERVAL_MS = 10_000

// --- announcing -------------------------------------------------------------------------------------------

/** After giving a key up in a race it is left alone for this long: by then the other's word for it is found. */
export const YIELD_PAUSE_MS = 2 * 60_000
/** A key that another holds is tried again after this at the latest, and not sooner than the least. */
export const ANNOUNCE_RETRY_MS = 10_000
export const ANNOUNCE_LEAST_RETRY_MS = 1_000

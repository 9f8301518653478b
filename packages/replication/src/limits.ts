/** Bounds and constants of replication. First what the protocols fix, then what we chose. */

/** Range reconciliation between two members; its turns are described in `turn.ts`. */
export const REPLICATION_PROTOCOL = '/mesh/replication/1'

/** Bucket of heartbeats; its digest is compared apart, as it changes all the time. */
export const HEALTH_BUCKET = 'healthcheck'

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
/** Heartbeats that the periodic check looks at. */
export const MAX_HEARTBEATS_COMPARED = 10_000
/** Turns of one session: twice what two full ledgers without a common entry need. */
export const MAX_SESSION_TURNS = 8_192
/** Turns in a row that say 'more' and bring nothing. */
export const MAX_IDLE_TURNS = 3
/** Ranges that wait for their answer; more means that the remote asks without listening. */
export const MAX_PENDING_TASKS = 8_192
/** Entries with a broken form or signature in one session; then the remote is no honest member. */
export const MAX_BAD_ENTRIES = 64
/** Entries that any ledger holds ('Bounds'); what a remote claims beyond is cut to this. */
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

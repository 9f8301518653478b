/** Bounds and constants of the ledger. */
import type { RateInit } from '@mesh/core/limits'

// What the wire fixes (docs/WIRE.md 4).

/** How long a heartbeat keeps its owner's entries, in ms: four intervals of 120 s. */
export const DEFAULT_LIVENESS_MS = 480_000
/** Nodes whose heartbeat is older than this, in ms, are never the reaping leader, however long a lease is. */
export const AVAILABLE_MS = 900_000
/**
 * Tombstones are collected this long after their `UpdatedAt`, in ms: three times `AVAILABLE_MS`, as legacy members do.
 */
export const DEFAULT_TOMBSTONE_TTL_MS = 2_700_000
/** Bytes of an Ed25519 signature. */
export const SIGNATURE_BYTES = 64
/** The greatest version: 64 bits without a sign. */
export const MAX_VERSION = 0xffff_ffff_ffff_ffffn

// What we chose.

/** How long after a lease has ended an entry is overdue, in ms: the leader should have ended it within 10 minutes. */
export const OVERDUE_MS = 3_600_000

/**
 * Versions, `UpdatedAt` and heartbeats further ahead than this, in ms, are refused for now: clocks differ, but not by
 * minutes.
 */
export const MAX_FUTURE_MS = 120_000
/** A step of the time of day by more than this, in ms, is no drift. */
export const CLOCK_STEP_MS = 1_000
/** Members whose clocks are compared with this machine's. */
export const MAX_CLOCK_SAMPLES = 256
/** How long a member's clock is taken into account after its last heartbeat, in ms. */
export const CLOCK_SAMPLE_MS = 600_000
/** Two claims of one key that are this close together, in ms, are a race and no theft. */
export const RACE_WINDOW_MS = 10_000
/** Low bits of our versions that come from the writer's identity, so that ties do not happen by accident. */
export const VERSION_TAG_BITS = 12n
/** Bytes of the longest bucket name. */
export const MAX_BUCKET_BYTES = 256
/** Bytes of the longest key. */
export const MAX_KEY_BYTES = 1024
/** Bytes of the longest value. */
export const MAX_VALUE_BYTES = 65_536
/** Bytes of the longest owner: a base58 peer id has 52 characters, other forms a few more. */
export const MAX_OWNER_BYTES = 128
/** Bytes of the largest block, inflated. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024
/** Entries that one block may hold. */
export const MAX_BLOCK_ENTRIES = 100_000
/** Buckets that one block may name. */
export const MAX_BLOCK_BUCKETS = 100_000
/** Fields that a block, or one of its entries, may have, known or not: they have five and six. */
export const MAX_JSON_FIELDS = 64
/** Bytes of the longest name of such a field as written: the longest that is known has nine letters, of six bytes as escapes. */
export const MAX_FIELD_NAME_BYTES = 1024
/**
 * Bytes of one entry as written that are read before other work may have its turn: its longest value, and a field that
 * nobody knows. An entry may name a field more than once.
 */
export const MAX_ENTRY_TEXT_BYTES = 1024 * 1024
/**
 * Bytes of one block that are skipped, in fields that nobody knows and in entries that are none; a block with more is
 * refused from there on.
 */
export const MAX_SKIPPED_BYTES = 4 * 1024 * 1024
/** Bytes of the longest field of an entry that is skipped without refusing the entry. */
export const MAX_SKIPPED_FIELD_BYTES = 64 * 1024
/** Bytes of the longest string in a block as written: the longest value with each byte as an escape. */
export const MAX_STRING_BYTES = 6 * 65_536
/** Bytes of the longest run of white space in a block. */
export const MAX_WHITE_SPACE_BYTES = 64 * 1024
/** How deep JSON that is skipped or looked into may nest; legacy members accept as much. */
export const MAX_JSON_DEPTH = 10_000
/** Bytes that a ledger holds unless it is told otherwise. */
export const MAX_LEDGER_BYTES = 256 * 1024 * 1024
/** Entries that a ledger holds unless it is told otherwise. */
const MAX_LEDGER_ENTRIES = 200_000
/** Bytes that one signer may hold, so that no single member fills the ledger. */
const MAX_SIGNER_BYTES = 160 * 1024 * 1024
/** Entries that one signer may hold. */
const MAX_SIGNER_ENTRIES = 120_000
/** Bytes that all unsigned entries together may have. */
const MAX_UNSIGNED_BYTES = 16 * 1024 * 1024
/** How many unsigned entries there may be. */
const MAX_UNSIGNED_ENTRIES = 10_000
/**
 * One part in this many of the ledger is kept for the buckets that say who is there, so that newcomers find room in a
 * full ledger.
 */
export const VITAL_ONE_IN = 4
/**
 * Entries of one signer in those buckets: a heartbeat, a user, and the addresses of a node with its guests. Tombstones go
 * first, then the oldest entries. All members drop the same ones, so the addresses beyond the share are free again.
 */
export const MAX_VITAL_SIGNER_ENTRIES = 48
/**
 * Addresses of one /24 that may be claimed while signers with several of them keep all: three quarters. Beyond it the
 * signer with the most gives up its oldest, and newcomers find the rest.
 */
export const MAX_SHARED_SUBNET_ADDRESSES = 192
/** Bytes of one signer in those buckets. */
export const MAX_VITAL_SIGNER_BYTES = 256 * 1024
/** Entries that may go for one new entry: the longest takes the room of some 200 short ones. */
export const MAX_EVICTED_AT_ONCE = 512
/** Bytes that are counted for each entry beside its text: object, tree and signature. */
export const ENTRY_OVERHEAD_BYTES = 256
/** How long writes may wait to be committed together, in ms. */
export const MAX_COMMIT_DELAY_MS = 20
/** How long decoding, checking and signing may take before other work has its turn, in ms. */
export const SLICE_MS = 10
/** How long is left to other work between the slices of copying and checking a store, in ms. */
export const REST_MS = 4 * SLICE_MS
/** Blocks of one author that may wait to be decoded. */
export const MAX_WAITING_BLOCKS = 1024
/** Bytes of all authors' blocks that may wait to be decoded. */
export const MAX_WAITING_BLOCK_BYTES = 2 * MAX_BLOCK_BYTES
/** Pruned tombstones whose hash and version are remembered, about 100 bytes each. */
const MAX_REMEMBERED_TOMBSTONES = 65_536
/** Tombstones that one call of `reap` collects: about 10 ms of work. */
export const MAX_COLLECTED_AT_ONCE = 1_000
/** Entries of who is out that are taken back in one step: 4 ms of work. */
export const MAX_WITHDRAWN_AT_ONCE = 256
/** Entries that are looked at in one such step. */
export const WITHDRAW_STEP_ENTRIES = 4_096
/** Least time between two announcements of one key against others' tombstones or claims, in ms, whatever they send. */
export const ANNOUNCE_PAUSE_MS = 1_000
/** Answers to stale entries that this node signs in a second. */
export const RETRACTIONS_PER_SECOND = 20
/** The same at once, after a rest. */
export const RETRACTION_BURST = 256
/**
 * How long this node gives nothing up again to a claimant that won a key from it, in ms. Two nodes may meet in several keys
 * during one race.
 */
export const YIELD_MEMORY_MS = 3_600_000
/** Claimants to whom this node gives something up in that time: they cost nothing. */
export const MAX_YIELDS = 32
/** Least time between two times that all members are told that one entry has ended, in ms; whoever sends it is told each time. */
export const RETRACTION_PAUSE_MS = 60_000
/** Stale entries that one merge checks and answers: what others replay must not keep this node busy. */
export const MAX_RETRACTIONS_AT_ONCE = 64
/** Stale entries whose answer is remembered. */
export const MAX_REMEMBERED_RETRACTIONS = 4096
/** Conflicts that are listed; further ones are judged the same and not told. */
export const MAX_CONFLICTS = 1024
/**
 * Announcements against others' tombstones, and as many against claims: of one key, which counts as a peer does, and of all.
 * The burst is for what a node holds and others ended while it was away.
 */
export const ANNOUNCES = {
  perPeer: { perSecond: 1_000 / ANNOUNCE_PAUSE_MS, burst: 1 },
  all: { perSecond: 20, burst: 512 },
  maxRemembered: MAX_CONFLICTS,
} satisfies RateInit
/** Parsed public keys that a verifier keeps. */
export const MAX_CACHED_KEYS = 4096

/** A store that fails is logged at most this often, in ms of monotonic time. */
export const STORE_FAILURE_LOG_INTERVAL_MS = 60_000
/** How soon after a failure, and then how often, it is tried whether a store takes anything again, in ms. */
export const STORE_RETRY_MS = 2_000

/** A store that failed counts as well again when so much more would fit at least, in bytes: a block of many entries. */
export const MIN_STORE_ROOM_BYTES = 256 * 1024

/** How soon after the start the first copy of the ledger's file is made, in ms. */
export const FIRST_COPY_MS = 30_000
/** How often the file is copied while it changes, in ms; what a copy misses, the other members have. */
export const COPY_INTERVAL_MS = 3_600_000
/** The same while the file is damaged, or could not be copied. */
export const COPY_RETRY_MS = 120_000
/** The largest file that is copied at the end where there is no fresh copy, in bytes. */
export const MAX_LAST_COPY_BYTES = 4 * 1024 * 1024
/** How long that may take, in ms: a node that ends must not be waited for. */
export const LAST_COPY_MS = 500
/** Damaged files that are kept for whoever wants to look; the oldest goes first. */
export const MAX_FILES_SET_ASIDE = 2

/** Mode `off`: how long a write of this node is watched once a block of others was heard, in ms. Legacy members repeat a write for as long. */
export const LOST_WRITE_WATCH_MS = 20_000
/** Mode `off`: the least time before lost writes are repeated, in ms. */
export const LOST_WRITE_LEAST_DELAY_MS = 50
/** Mode `off`: the time over which members that lost a race spread their repetitions, in ms. */
export const LOST_WRITE_SPREAD_MS = 700
/** Mode `off`: the most writes that are watched; the oldest goes first. */
export const MAX_WATCHED_WRITES = 10_000
/** Mode `off`: the heads by which a later block is known to be made on top of a write. */
export const MAX_WATCHED_HEADS = 1024

/** Bounds that a caller may set. */
export interface LedgerLimits {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly maxSignerEntries: number
  readonly maxSignerBytes: number
  readonly maxUnsignedEntries: number
  readonly maxUnsignedBytes: number
  readonly maxRememberedTombstones: number
}

export const defaultLedgerLimits: LedgerLimits = {
  maxEntries: MAX_LEDGER_ENTRIES,
  maxBytes: MAX_LEDGER_BYTES,
  maxSignerEntries: MAX_SIGNER_ENTRIES,
  maxSignerBytes: MAX_SIGNER_BYTES,
  maxUnsignedEntries: MAX_UNSIGNED_ENTRIES,
  maxUnsignedBytes: MAX_UNSIGNED_BYTES,
  maxRememberedTombstones: MAX_REMEMBERED_TOMBSTONES,
}

/** Entries of one name in `providers` that are looked at, of live members and others. */
export const MAX_PROVIDER_ENTRIES = 1_000

// Leases

/** The shortest and the longest time that a lease lasts after a renewal, in ms: each renewal is a write that all hear. */
export const [LEAST_LEASE_MS, MOST_LEASE_MS] = [5_000, 3_600_000]
/** How much longer than its TTL a holder must be silent, in ms, before another member takes the lease. */
export const LEASE_GRACE_MS = 2_000
/** How long a claim waits for those of other members, in ms. */
export const LEASE_CLAIM_MS = 3_000
/** How often a claim is said in that time. */
export const LEASE_CLAIMS = 4
/** How often a lease that is held by another member is looked at, in ms. */
export const LEASE_LOOK_MS = 1_000
/** The most leases that one node holds or waits for. */
export const MAX_HELD_LEASES = 64
/** The most leases of which it is remembered when they were heard. */
export const MAX_SEEN_LEASES = 4_096

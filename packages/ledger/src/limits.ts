/** Bounds and constants of the ledger. */

// What the wire fixes (wire document, section 4).

/** How long a heartbeat keeps its owner's entries: four intervals of 120 s. */
export const DEFAULT_LIVENESS_MS = 480_000
/** Heartbeats younger than this name the nodes that elect the reaping leader. */
export const AVAILABLE_MS = 900_000
/** Tombstones are collected this long after their `UpdatedAt`: three times `AVAILABLE_MS`, as legacy members do. */
export const DEFAULT_TOMBSTONE_TTL_MS = 2_700_000
export const SIGNATURE_BYTES = 64
export const MAX_VERSION = 0xffff_ffff_ffff_ffffn

// What we chose.

/** Versions, `UpdatedAt` and heartbeats further ahead are refused for now: clocks differ, but not by minutes. */
export const MAX_FUTURE_MS = 120_000
/** Two claims of one key this close together are a race, not a theft. */
export const RACE_WINDOW_MS = 10_000
/** Low bits of our versions that come from the writer's identity, so that ties do not happen by accident. */
export const VERSION_TAG_BITS = 12n
export const MAX_BUCKET_BYTES = 256
export const MAX_KEY_BYTES = 1024
export const MAX_VALUE_BYTES = 65_536
/** A base58 peer id has 52 characters; older forms a few more. */
export const MAX_OWNER_BYTES = 128
/** One block, inflated. */
export const MAX_BLOCK_BYTES = 64 * 1024 * 1024
export const MAX_BLOCK_ENTRIES = 100_000
/** Nesting of JSON that is skipped or looked into; what Go accepts. */
export const MAX_JSON_DEPTH = 10_000
export const MAX_LEDGER_BYTES = 256 * 1024 * 1024
export const MAX_LEDGER_ENTRIES = 200_000
/** One signer's share, so that no single member fills the ledger. */
export const MAX_SIGNER_BYTES = 160 * 1024 * 1024
export const MAX_SIGNER_ENTRIES = 120_000
/** What nobody signed, all of it together. */
export const MAX_UNSIGNED_BYTES = 16 * 1024 * 1024
export const MAX_UNSIGNED_ENTRIES = 10_000
/** Counted for each entry beside its text: object, tree and signature. */
export const ENTRY_OVERHEAD_BYTES = 256
/** Writes that wait are committed together after at most this time. */
export const MAX_COMMIT_DELAY_MS = 20
/** Decoding, checking and signing give way to other work after this time. */
export const SLICE_MS = 10
/** One author gets at most one part in this many of the time. */
export const AUTHOR_TIME_SHARE = 4
/** Blocks of one author that wait to be decoded. */
export const MAX_WAITING_BLOCKS = 1024
/** Collected tombstones whose hash and version are remembered (about 100 bytes each). */
export const MAX_REMEMBERED_TOMBSTONES = 65_536
/** Tombstones collected by one call of `reap`, about 50 ms of work. */
export const MAX_COLLECTED_AT_ONCE = 10_000
/** One key is announced again above others' tombstones at most this often, whatever they send. */
export const ANNOUNCE_PAUSE_MS = 1_000
/** A stale entry is answered by a tombstone once in this time. */
export const RETRACTION_PAUSE_MS = 60_000
/** Stale entries checked and answered in one merge: what others replay must not keep this node busy. */
export const MAX_RETRACTIONS_AT_ONCE = 64
/** Stale entries whose answer is remembered. */
export const MAX_REMEMBERED_RETRACTIONS = 4096
/** Conflicts that are listed; further ones are judged the same, but not told. */
export const MAX_CONFLICTS = 1024
/** Parsed public keys kept by the verifier. */
export const MAX_CACHED_KEYS = 4096

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

/** Bounds of the HTTP API; part of the contract, so that a client can check before it sends. */

/** The longest bucket name, in bytes of UTF-8. */
export const MAX_BUCKET_BYTES = 256
/** The longest key, in bytes of UTF-8. */
export const MAX_KEY_BYTES = 1024
/** The longest JSON text of a value, in bytes of UTF-8. */
export const MAX_VALUE_BYTES = 64 * 1024
/** The longest body of a request, in bytes. */
export const MAX_BODY_BYTES = 128 * 1024
/** The longest path of a request with its query, in bytes as sent. It has room for a value of 48 KiB. */
export const MAX_PATH_BYTES = 56 * 1024
/** The longest head of a request, in bytes: its path and its headers together. */
export const MAX_HEAD_BYTES = 64 * 1024
/** The longest `wait` of a write, in ms; longer ones are cut to this. */
export const MAX_WAIT_MS = 60_000
/** The bounds of how often the node renews a write, in ms. */
export const MIN_KEEP_MS = 1_000
export const MAX_KEEP_MS = 86_400_000
/** How many entries one page of a read has at most; a greater `limit` is cut to this. */
export const MAX_PAGE_ENTRIES = 1_000
/** How many events a node keeps for readers that come back with `Last-Event-ID`. */
export const EVENT_RING_SIZE = 1000
/** How often a silent event stream shows that it lives, in ms. */
export const EVENT_HEARTBEAT_MS = 4_000
/**
 * The time, in ms, after which an event stream without a byte is dead: two heartbeats did not come, so that a node
 * that hangs is noticed within 10 s.
 */
export const EVENT_SILENCE_MS = 9_000
/** How many changes, and how many refusals, a node keeps for readers that ask for what happened before they came. */
export const EVENT_HISTORY_SIZE = 200
/** How many keys a `ledger.changed` event names at most; its `More` counts the rest. */
export const MAX_CHANGES_PER_EVENT = 256

/** The longest path or address of the node's own machine, in bytes: what Linux takes as a path. */
export const MAX_ADDRESS_BYTES = 4_096
/** How many characters the levels of a log may have, as one text. */
export const MAX_LOG_LEVEL_CHARACTERS = 2_000

/** How many of the last blocks a node keeps with what they changed. */
export const KEPT_BLOCKS = 256
/** How many blocks one answer lists at most; a greater `limit` is cut to this. */
export const MAX_LISTED_BLOCKS = 100
/** How many of the last lines of the log a node keeps. */
export const KEPT_LOG_LINES = 1_000
/** The length of a step of the history of traffic, in seconds. */
export const TRAFFIC_STEP_SECONDS = 10
/** How many steps of traffic a node keeps: an hour. */
export const KEPT_TRAFFIC_STEPS = 360
/** How many peers, and how many protocols, the history of traffic tells apart; all others are one. */
export const MAX_TOLD_FLOWS = 16
/** How many paths a member tells of at most. */
export const MAX_TOLD_PATHS = 256
/** The longest piece of a file in one request, in bytes. */
export const MAX_UPLOAD_PIECE_BYTES = 1024 * 1024
/** The longest file that a node takes over the API, in bytes. */
export const MAX_UPLOAD_BYTES = 16 * 1024 ** 3

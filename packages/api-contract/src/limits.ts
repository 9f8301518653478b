/** Bounds of the HTTP API; part of the contract, so that a client can check before it sends. */

/** Bucket name, UTF-8 bytes. */
export const MAX_BUCKET_BYTES = 256
/** Key, UTF-8 bytes. */
export const MAX_KEY_BYTES = 1024
/** A value's JSON text, UTF-8 bytes. */
export const MAX_VALUE_BYTES = 64 * 1024
/** A request's body. */
export const MAX_BODY_BYTES = 128 * 1024
/** A request's path with its query, as sent. A value of 64 KiB takes up to three times that when encoded. */
export const MAX_PATH_BYTES = 256 * 1024
/** All header lines of a request together. */
export const MAX_HEADER_BYTES = 256 * 1024
/** Longer waits are cut to this. */
export const MAX_WAIT_MS = 60_000
/** Events that a node keeps for readers that come back with `Last-Event-ID`. */
export const EVENT_RING_SIZE = 1000
/** A silent event stream says so this often. */
export const EVENT_HEARTBEAT_MS = 4_000
/** An event stream without a byte for this long is dead: two heartbeats did not come, and a node that hangs is noticed within 10 s. */
export const EVENT_SILENCE_MS = 9_000
/** Changes, and refusals, that a node keeps for readers that ask for what happened before they came. */
export const EVENT_HISTORY_SIZE = 200
/** A `ledger.changed` event names at most this many keys; `More` counts the rest. */
export const MAX_CHANGES_PER_EVENT = 256

/** A path or address of the node's own machine: what Linux takes as a path. */
export const MAX_ADDRESS_BYTES = 4_096

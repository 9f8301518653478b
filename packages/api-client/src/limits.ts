/** Times and bounds that we chose for asking a node. */

/** How long a whole request may take, in ms, its `wait` excepted. */
export const DEFAULT_TIMEOUT_MS = 30_000
/** The first pause before an event stream is opened again, in ms; it doubles up to the longest. */
export const RECONNECT_MIN_MS = 500
/** The longest pause before an event stream is opened again, in ms. */
export const RECONNECT_MAX_MS = 10_000
/**
 * The longest event, in characters: one of the longest kind has about 400 KiB, and more without an end is no event
 * stream of ours.
 */
export const MAX_EVENT_CHARS = 4 << 20
/** How often a call that may be made again is, unless its client says otherwise. */
export const DEFAULT_RETRIES = 2
/** The wait before a call is made again, in ms; it doubles up to the longest. */
export const RETRY_MIN_MS = 250
/** The longest wait before a call is made again, in ms, where the node names no longer one. */
export const RETRY_MAX_MS = 4_000

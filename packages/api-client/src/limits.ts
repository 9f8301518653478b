/** What we chose for asking a node. */

/** A whole request, its `wait` excepted. */
export const DEFAULT_TIMEOUT_MS = 30_000
/** First pause before an event stream is opened again; doubles up to the next. */
export const RECONNECT_MIN_MS = 500
export const RECONNECT_MAX_MS = 10_000
/** An event of the longest kind has about 400 KiB; more without an end is no event stream of ours. */
export const MAX_EVENT_CHARS = 4 << 20

/** Times of opening streams to peers. */

/** The wait after a first stream that failed, in ms; it doubles with each failure. */
export const STREAM_RETRY_MS = 200
/** The longest wait after a stream that failed, in ms. */
export const MAX_STREAM_RETRY_MS = 10_000
/** How long opening a stream may take, in ms, with the connection that it may need. */
export const STREAM_OPEN_MS = 30_000
/** The least time between two tries to open a stream to a peer that came back, in ms. */
export const STREAM_EARLY_RETRY_MS = 1_000

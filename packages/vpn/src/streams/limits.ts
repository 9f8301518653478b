/** Times of opening streams to peers. */
import type { BackoffBounds } from '@mesh/core/limits'

/** The waits after streams that failed; each is twice as long. */
export const STREAM_RETRY = { leastMs: 200, mostMs: 10_000 } satisfies BackoffBounds
/** How long opening a stream may take, in ms, with the connection that it may need. */
export const STREAM_OPEN_MS = 30_000
/** The least time between two tries to open a stream to a peer that came back, in ms. */
export const STREAM_EARLY_RETRY_MS = 1_000

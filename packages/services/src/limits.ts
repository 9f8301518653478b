/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

/** How much of a stream's bytes is written at once: fills one noise message (65,535 less tag and yamux header). */
export const STREAM_BLOCK_BYTES = 65_507

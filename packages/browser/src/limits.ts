/** Bounds of HTTP answers, which are hostile input. */

/** The longest head of an answer, and the longest trailer, in bytes. */
export const MAX_HEAD_BYTES = 64 * 1024
/** The longest line that gives the length of a chunk, in bytes. */
export const MAX_CHUNK_LINE_BYTES = 1024
/** How many interim answers (1xx) one request may have. */
export const MAX_INTERIM_ANSWERS = 16
/** How many bytes of an answer may wait for the page until the sender is slowed down; one message may be longer. */
export const READ_AHEAD_BYTES = 64 * 1024

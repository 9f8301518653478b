/** Bounds of the muxer and its streams. */
import type { ScopeLimits } from '@mesh/core/limits'

/**
 * Size in bytes that a stream's window may grow to: as much may wait ahead of other streams. It grows as its round trip asks for
 * it: 1 MiB carries 84 Mbit/s at 100 ms.
 */
export const STREAM_WINDOW_BYTES = 1 << 20
/** Unsent bytes of one stream; more reset it. */
export const STREAM_WRITE_BUFFER_BYTES = 8 << 20
/** Longest data of a frame that this end sends, in bytes: with its header it fits one message of noise. */
export const MAX_FRAME_DATA_BYTES = 65_507
/** Streams of one connection that each end may have opened. */
export const MAX_STREAMS_PER_END = 1_000
/** Streams that may come before libp2p listens for them; one more ends the connection. */
export const MAX_EARLY_STREAMS = 32
/** Time between two pings of a connection, in ms: NATs forget what is silent. */
export const MUXER_PING_INTERVAL_MS = 30_000
/** Pings beside these, which measure the round trip: some when streams open, with a least time between them in ms. */
export const MAX_EXTRA_PINGS = 16
export const EXTRA_PING_GAP_MS = 1_000
/** Shortest round trip that counts, in ms. */
export const LEAST_ROUND_TRIP_MS = 1
/** Pings beyond that rate, which get no answer, until the connection ends. */
export const MAX_REFUSED_PINGS = 200
/** Longest time that a connection may take to close after a GoAway, in ms. */
export const GO_AWAY_CLOSE_MS = 1_000
/** Bytes that may come after the muxer's end, as they were on their way; more end the connection. */
export const MAX_BYTES_AFTER_END = 1024 * 1024
/** Streams that a peer may open that is no known member. */
export const UNPROVEN_STREAM_RATE = { perSecond: 20, burst: 100 } as const
/** Streams beyond that rate, which are reset, until the connection ends. */
export const MAX_REFUSED_STREAMS = 1_000
/** Bytes that wait in all on streams that nobody reads, those of strangers among them. */
export const UNREAD_BYTES = {
  all: 16 * 1024 * 1024,
  unproven: 4 * 1024 * 1024,
  evict: 'largest',
} satisfies ScopeLimits
/** Least bytes that each piece counts for which waits: one byte takes some hundred. */
export const LEAST_PIECE_BYTES = 512
/** The longest message of a relay, which its specification fixes. */
export const MAX_RELAY_MESSAGE_BYTES = 4_096
/** The longest message by which a peer says what it is. */
export const MAX_IDENTIFY_BYTES = 8_192
/** How many bytes of these may come on one stream: go-libp2p sends the addresses in one and their signed record in another. */
export const MAX_IDENTIFY_STREAM_BYTES = 2 * MAX_IDENTIFY_BYTES
/** The longest question to this node's DHT: a record of a key has 10 KiB. */
export const MAX_DHT_QUESTION_BYTES = 16 * 1024
/** The longest answer of a DHT: twenty peers that are near and as many that provide, each with some fifty addresses. */
export const MAX_DHT_ANSWER_BYTES = 256 * 1024
/** The longest message by which two peers agree on a WebRTC connection. */
export const MAX_SIGNALLING_BYTES = 16 * 1024
/** How many fields one of these messages may have. */
export const MAX_MESSAGE_FIELDS = 4_096
/** The longest message of AutoNAT, which its specification fixes. */
export const MAX_AUTONAT_MESSAGE_BYTES = 8_192
/** How many fields a question of AutoNAT may have, its addresses among them. */
export const MAX_AUTONAT_FIELDS = 64

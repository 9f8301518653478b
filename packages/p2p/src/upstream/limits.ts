/** Bounds that wrappers around libraries enforce. */
import type { Rate, RateInit, ScopeLimits } from '@mesh/core/limits'

/** How many streams in a second a peer may open that has not proven anything, on average. */
export const UNPROVEN_STREAMS_PER_S = 20
/** The same at once. */
export const UNPROVEN_STREAMS_BURST = 100
/** Messages on the data channels of a WebRTC connection to a peer that has proven nothing. */
export const UNPROVEN_CHANNEL_MESSAGES = { perPeer: { perSecond: 500, burst: 2_000 } } satisfies RateInit
/** Messages on one data channel: at 16 KiB a message it is twice what the library carries. */
export const CHANNEL_MESSAGES = { perSecond: 5_000, burst: 10_000 } satisfies Rate
/** Messages on the data channels of all WebRTC connections. */
export const CONNECTION_CHANNEL_MESSAGES = {
  perAddress: { perSecond: 10_000, burst: 20_000 },
  all: { perSecond: 20_000, burst: 40_000 },
} satisfies RateInit
/** After so many streams that were refused the connection ends. */
export const MAX_REFUSED_STREAMS = 1_000
/** Questions to this node's DHT. */
export const DHT_QUESTIONS = {
  perAddress: { perSecond: 20, burst: 400 },
  all: { perSecond: 100, burst: 1_000 },
} satisfies RateInit
/** Records that others leave in this node's DHT. */
export const DHT_RECORDS = {
  perAddress: { perSecond: 1, burst: 100 },
  all: { perSecond: 3, burst: 600 },
} satisfies RateInit
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
/** WebRTC connections that others have begun, by signalling and as many by packets: each holds a socket for up to 10 s. */
export const PENDING_WEBRTC = { all: 32, perAddress: 16 } satisfies ScopeLimits
/** How many frames may begin in one message on a data channel: who writes sends one in each. */
export const MAX_FRAMES_IN_CHANNEL_MESSAGE = 16
/** How often this node says on one data channel that a stream has ended: each of both ends once, and once that it heard. */
export const MAX_CHANNEL_FLAGS = 8
/** How many fields one of these messages may have. */
export const MAX_MESSAGE_FIELDS = 4_096
/** How many lines are answered while a protocol is agreed on: a peer asks for one after the other that it speaks. */
export const MAX_NEGOTIATION_ANSWERS = 32
/** Pings of the muxer beyond that rate that one connection may send before it ends; they are left without an answer. */
export const MAX_REFUSED_PINGS = 200
/** How long a connection whose other side goes away may take to close, in ms. */
export const GOODBYE_MS = 1_000
/** How many bytes may still come on a connection whose muxer has ended, as they were on their way; with more it is closed. */
export const MAX_BYTES_BEHIND_END = 1024 * 1024
/** How many bytes of one side of a circuit over this node may wait for the other side before it is not read any more. */
export const RELAY_HIGH_WATER_BYTES = 64 * 1024
/** Bytes that a stream of a peer that is no known member may bring before it counts among these. */
export const FREE_STREAM_BYTES = 16 * 1024
/** How many fields one frame may have: a thousand messages with six each, and as many names of messages as are looked at. */
export const MAX_RPC_FIELDS = 16_384
/** The longest id of a message or an author, and the longest name of a topic. */
export const MAX_GOSSIP_ID_BYTES = 256
/** The longest key, and the longest signature, of a message. */
export const MAX_SIGNER_BYTES = 2_048
/** The longest message of AutoNAT, which its specification fixes. */
export const MAX_AUTONAT_MESSAGE_BYTES = 8_192
/** How many fields a question of AutoNAT may have, its addresses among them. */
export const MAX_AUTONAT_FIELDS = 64

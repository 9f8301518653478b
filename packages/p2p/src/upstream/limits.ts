/** Bounds that wrappers around libraries enforce. */
import type { Rate, RateInit, ScopeLimits } from '@mesh/core/limits'

/** Messages on the data channels of a WebRTC connection to a peer that has proven nothing. */
export const UNPROVEN_CHANNEL_MESSAGES = { perPeer: { perSecond: 500, burst: 2_000 } } satisfies RateInit
/** Messages on one data channel: at 16 KiB a message it is twice what the library carries. */
export const CHANNEL_MESSAGES = { perSecond: 5_000, burst: 10_000 } satisfies Rate
/** Messages on the data channels of all WebRTC connections. */
export const CONNECTION_CHANNEL_MESSAGES = {
  perAddress: { perSecond: 10_000, burst: 20_000 },
  all: { perSecond: 20_000, burst: 40_000 },
} satisfies RateInit
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
/** WebRTC connections that others have begun, by signalling and as many by packets: each holds a socket for up to 10 s. */
export const PENDING_WEBRTC = { all: 32, perAddress: 16 } satisfies ScopeLimits
/** How many frames may begin in one message on a data channel: who writes sends one in each. */
export const MAX_FRAMES_IN_CHANNEL_MESSAGE = 16
/** How often this node says on one data channel that a stream has ended: each of both ends once, and once that it heard. */
export const MAX_CHANNEL_FLAGS = 8
/** How many bytes of one side of a circuit over this node may wait for the other side before it is not read any more. */
export const RELAY_HIGH_WATER_BYTES = 64 * 1024
/** How many fields one frame may have: a thousand messages with six each, and as many names of messages as are looked at. */
export const MAX_RPC_FIELDS = 16_384
/** The longest id of a message or an author, and the longest name of a topic. */
export const MAX_GOSSIP_ID_BYTES = 256
/** The longest key, and the longest signature, of a message. */
export const MAX_SIGNER_BYTES = 2_048

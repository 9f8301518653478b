/** Bounds and times that several folders of this package share. */

/** How many refusals of one code are told as events in a second; more are only counted. */
export const REFUSAL_EVENTS_PER_SECOND = 10
/** The most connections at a time; beyond it those to peers that are no members go first. */
export const MAX_CONNECTIONS = 300
/** Inbound connections whose handshake is not finished: a silent one gives its place to a newcomer. */
export const PENDING_INBOUND = { all: 128, perAddress: 64, evict: 'oldest' } as const
/** The longest id of a peer, in bytes: those that hold a key have 38 or 39, and others the 34 of a hash. */
export const MAX_PEER_ID_BYTES = 64
/** The most addresses that the other side of one WebRTC connection may name. */
export const MAX_CANDIDATES = 32
/** Pings that are answered on one connection, of libp2p and of the muxer each. */
export const PINGS = { perSecond: 5, burst: 40 } as const
/** How long one has stood before that, in ms: of two that were dialled at once neither replaces the other. */
export const STOOD_BEFORE_MS = 5_000
/** The most peers whose state is kept, connected or not. */
export const MAX_KNOWN_PEERS = 1024
/** The most addresses that are kept and told for one peer. */
export const MAX_PEER_ADDRESSES = 16
/** How long a reservation on this node lasts, in ms. */
export const RELAY_RESERVATION_MS = 3_600_000
/** How many bytes may wait for a slow reader before the stream is paused; one frame may be longer. */
export const READ_HIGH_WATER_BYTES = 256 * 1024
/** How many bytes may still wait to go out when a writer is told to go on. */
export const SEND_LOW_WATER_BYTES = 64 * 1024
/** Unsent bytes of all byte streams from which on each stream must be empty before it is asked for more. */
export const MUCH_UNSENT_BYTES = 4 * 1024 * 1024
/** How long both sides of a closed channel may take to say so, in ms. */
export const CHANNEL_CLOSE_MS = 10_000
/** How long a handshake may take, and a stream may wait for its connection's proof, in ms. */
export const MEMBER_HANDSHAKE_MS = 10_000
/** How long a peer counts as a member after it authored a sealed message or its proven connection ended, in ms. */
export const HEARD_MEMBER_MS = 600_000
/** How long a message is whose checks do not all fit into one turn of the event loop, in bytes. */
export const LONG_MESSAGE_BYTES = 1024 * 1024
/** How many lines are answered while a protocol is agreed on: a peer asks for one after the other that it speaks. */
export const MAX_NEGOTIATION_ANSWERS = 32

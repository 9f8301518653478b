/** Bounds and times of the tunnels to peers. First what the protocols fix, then what we chose. */
import type { BackoffBounds, ScopeLimits } from '@mesh/core/limits'

/** Frames of sealed datagrams, on one stream for each direction (docs/PROTOCOLS.md, 'VPN'). */
export const PACKETS_PROTOCOL = '/mesh/packets/1'

// Control channels

/** The longest message on a control channel; a hello has 73 bytes. */
export const MAX_CONTROL_BYTES = 4 * 1024
/** How long an exchange of keys may take, in ms; the remote needs one round trip. */
export const KEY_EXCHANGE_MS = 10_000
/** The most messages that a peer may send in a minute. */
export const CONTROL_MESSAGES_PER_MINUTE = 60
/** The most channels of one peer that are served: one of each side, and one that is being replaced. */
export const CONTROL_CHANNELS_PER_PEER = 3
/** The most exchanges that this node begins at a time; further peers wait. */
export const MAX_OWN_EXCHANGES = 32
/** Exchanges of others that are served at a time: each costs one X25519. One address, or relay, has half of them at most. */
export const SERVED_EXCHANGES = { all: 256, perAddress: 128 } satisfies ScopeLimits
/** The most keys that are held, as long as their channels, of members that are not in the table. */
export const MAX_KEYS_OUTSIDE_TABLE = 1024
/** How long the greater peer id leaves the smaller one to open the channel, in ms: both see a connection at once. */
export const SECOND_OPENER_MS = 2_000
/** The waits after exchanges that failed; each is twice as long. */
export const EXCHANGE_RETRY = { leastMs: 500, mostMs: 60_000 } satisfies BackoffBounds

// Finding a path to peers for whom packets wait

/** The most peers that are searched for at a time; each may take dials of many addresses. */
export const MAX_SEARCHES = 32
/** The most peers that wait for a search; others are left out until their next packets. */
export const MAX_WAITING_SEARCHES = 1024
/** How long one search may take, in ms: connection, identify and keys. */
export const SEARCH_MS = 30_000
/** The waits after searches that failed; each is twice as long. */
export const SEARCH_RETRY = { leastMs: 500, mostMs: 30_000 } satisfies BackoffBounds
/** Tunnels that change within this time, in ms, make one table, so that many peers at once do not mean many tables. */
export const TUNNELS_GATHER_MS = 20

// Streams of packets

/** How long a stream has to live, in ms, not to count as one that failed. */
export const STREAM_PROVEN_MS = 10_000
/** How long a stream stays open without packets, in ms: thousands of peers must not hold streams for ever. */
export const STREAM_IDLE_MS = 5 * 60_000
/** How long a stream may take nothing, in ms, before it is given up for a new one. */
export const STREAM_STALL_MS = 30_000
/** How long a peer to whom packets go by the stream may send nothing, in ms, until its connections are looked at. */
export const STREAM_UNANSWERED_MS = 2_000
/**
 * The same until the next check while nothing comes, in ms. A peer that has nothing to send answers after 10 s, as WireGuard
 * requires.
 */
export const STREAM_UNANSWERED_AGAIN_MS = 5_000
/** How often idle, stalled and unanswered streams are looked for, in ms. */
export const STREAM_SWEEP_MS = 1_000
/** The most batches (of at most 68 KiB) that are sent to one peer before others get their turn. */
export const BATCHES_PER_TURN = 8
/** The most streams of one peer that are served: the one in use, the one that replaces it, and one in between. */
export const PACKET_STREAMS_PER_PEER = 3
/** The most streams that one peer may open at once. */
export const MAX_NEW_STREAMS = 16
/** How often a peer may open one more stream after that, in ms. */
export const NEW_STREAM_EVERY_MS = 2_000
/** How long a stream is kept unread, in ms, that comes before its peer's key or entry in the ledger. */
export const STREAM_HELD_MS = 10_000
/** Streams that are kept so: unread, each holds up to 256 KiB. One address, or relay, has half of them at most. */
export const HELD_STREAMS = { all: 64, perAddress: 32 } satisfies ScopeLimits
/** How long a relayed stream may still bring what it has, in ms, after a direct one came. */
export const STREAM_MOVE_MS = 500

/** Bounds and constants of the ways to peers. First what the protocols fix, then what we chose. */

/** Control channel between members: keys (docs/PROTOCOLS.md, 'VPN'). */
export const VPN_PROTOCOL = '/mesh/vpn/1'
/** Frames of sealed datagrams, one stream for each direction. */
export const PACKETS_PROTOCOL = '/mesh/packets/1'
/** One packet on each stream: members of older networks (wire document, 5.1). */
export const PLAIN_PROTOCOL = '/edgevpn/0.1'
/** Nonces, macs and X25519 keys. */
export const HASH_BYTES = 32
/** What the interfaces of older members have. */
export const PLAIN_MTU = 1200

// --- control channels ---------------------------------------------------------------------------------------

/** Longest message on a control channel; a hello has 73. */
export const MAX_CONTROL_BYTES = 4 * 1024
/** An exchange of keys; the remote needs one round trip. */
export const KEY_EXCHANGE_MS = 10_000
/** Messages of a peer in a minute. */
export const CONTROL_MESSAGES_PER_MINUTE = 60
/** Channels of one peer that are served: one of each side, and one that is being replaced. */
export const CONTROL_CHANNELS_PER_PEER = 3
/** Exchanges of our own at a time; further peers wait. */
export const MAX_OWN_EXCHANGES = 32
/** Exchanges of others at a time: each costs one X25519. */
export const MAX_SERVED_EXCHANGES = 256
/** Keys of members that are not in the table (yet), held as long as their channel. */
export const MAX_KEYS_OUTSIDE_TABLE = 1024
/** Both ends see a new connection at once: the greater peer id leaves the smaller one this long to begin. */
export const SECOND_OPENER_MS = 2_000
/** The first wait after a failed exchange, doubled with each failure, */
export const EXCHANGE_RETRY_MS = 500
/** up to this. */
export const MAX_EXCHANGE_RETRY_MS = 60_000

// --- reaching peers that packets want to go to --------------------------------------------------------------

/** Peers that are looked for at a time; each may take dials of many addresses. */
export const MAX_SEARCHES = 32
/** Peers that wait for their turn; more are left out, and wanted again with their next packets. */
export const MAX_WAITING_SEARCHES = 1024
/** One search: connection, identify and keys. */
export const SEARCH_MS = 30_000
/** The first wait after a search that failed, doubled with each failure, */
export const SEARCH_RETRY_MS = 500
/** up to this. */
export const MAX_SEARCH_RETRY_MS = 30_000

// --- streams of packets -------------------------------------------------------------------------------------

/** The first wait after a stream that failed, doubled with each failure, */
export const STREAM_RETRY_MS = 200
/** up to this. */
export const MAX_STREAM_RETRY_MS = 10_000
/** A stream that lived this long was none that failed. */
export const STREAM_PROVEN_MS = 10_000
/** Opening one, with the connection that it may need. */
export const STREAM_OPEN_MS = 30_000
/** A peer that came back is tried at once, but not sooner than this after the last try. */
export const STREAM_EARLY_RETRY_MS = 1_000
/** Without packets for this long a stream is closed, so that thousands of peers do not hold streams for ever. */
export const STREAM_IDLE_MS = 5 * 60_000
/** A stream that takes nothing for this long is given up for a new one. */
export const STREAM_STALL_MS = 30_000
/** How often the two above are looked after. */
export const STREAM_SWEEP_MS = 5_000
/** Batches (at most 68 KiB) sent to one peer before others have their turn. */
export const BATCHES_PER_TURN = 8
/** Streams of one peer that are served: the one in use, the one that replaces it, and one in between. */
export const PACKET_STREAMS_PER_PEER = 3
/** New streams of one peer at once, */
export const MAX_NEW_STREAMS = 16
/** and one more after each of these. */
export const NEW_STREAM_EVERY_MS = 2_000
/** A stream that comes before its peer's key, or entry in the ledger, is kept unread this long. */
export const STREAM_HELD_MS = 10_000
/** Streams that are kept so. */
export const MAX_HELD_STREAMS = 256
/** What a relayed stream still brings after the direct one came is waited for this long. */
export const STREAM_MOVE_MS = 500

// --- plain members ------------------------------------------------------------------------------------------

/** Streams, each with one packet, that are on their way to one peer. */
export const PLAIN_STREAMS_OUT = 64
/** To all peers together. */
export const MAX_PLAIN_STREAMS_OUT = 1024
/** Streams of one peer that are read at a time; the original opens as many as it has packets. */
export const PLAIN_STREAMS_IN = 512
/** What one stream may bring, */
export const MAX_PLAIN_STREAM_BYTES = 64 * 1024
/** and how long it may take; the same for one of ours. */
export const PLAIN_STREAM_MS = 15_000
/** Beginnings of packets, of one peer, */
export const MAX_PLAIN_HELD_BYTES = 512 * 1024
/** and of all. */
export const MAX_PLAIN_HELD_TOTAL_BYTES = 16 * 1024 * 1024

// --- telling ------------------------------------------------------------------------------------------------

/** Changes of ways are gathered this long, so that many peers at once do not mean as many tables. */
export const WAYS_GATHERED_MS = 20

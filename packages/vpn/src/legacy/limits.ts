/** Bounds and times of what is there for legacy members only. First what their wire fixes, then what we chose. */

/** One packet on each stream (docs/WIRE.md 5.1). */
export const LEGACY_PROTOCOL = '/edgevpn/0.1'
/** The MTU of a legacy member's interface, in bytes. */
export const LEGACY_MTU = 1200
/** The age of a heartbeat, in ms, up to which its node takes part in the election (docs/WIRE.md 6.1). */
export const AVAILABLE_MS = 900_000

// Packets

/** The most streams, each with one packet, that are on their way to one peer. */
export const STREAMS_OUT_PER_PEER = 64
/** The most streams that are on their way to all peers together. */
export const MAX_STREAMS_OUT = 1024
/** The most streams of one peer that are read at a time; a legacy member opens as many as it has packets. */
export const STREAMS_IN_PER_PEER = 512
/** The most bytes that one stream may bring. */
export const MAX_STREAM_BYTES = 64 * 1024
/** How long one stream may take, in ms, in either direction. */
export const STREAM_MS = 15_000
/** The most bytes that unfinished packets of one peer may hold. */
export const MAX_UNFINISHED_BYTES_PER_PEER = 512 * 1024
/** The most bytes that unfinished packets of all peers together may hold. */
export const MAX_UNFINISHED_BYTES = 16 * 1024 * 1024

// Election of who takes an address next

/** Changes of the ledger that come within this time, in ms, are judged together. */
export const GATHER_MS = 50
/**
 * How long after this node named itself leader, in ms, another's word of the same moment has come; EdgeVPN waits 5 s.
 */
export const LEADER_RACE_MS = 500
/** The most nodes that ask for an address and are counted; keys cost nothing. */
export const MAX_ASKING = 4096
/** How long a node that names itself leader without effect waits, in ms, before it does so again. */
export const REWRITE_MS = 1_000
/** How long a leader of ours may take for its address, in ms; it acts within a second. */
export const LEADER_PATIENCE_MS = 5_000
/** How long a legacy leader may take, in ms: it looks every 5 s, and acts every second time only. */
export const LEGACY_LEADER_PATIENCE_MS = 20_000
/** How long a node of ours that is next may stay silent, in ms, before it is passed over: it wants none, or is gone. */
export const NEXT_PATIENCE_MS = 3_000
/** How long a legacy node that is next may stay silent, in ms. */
export const LEGACY_NEXT_PATIENCE_MS = 12_000
/** How long the one behind a silent node may take, in ms; each further one gets half of the time of the one before. */
export const FURTHER_PATIENCE_MS = 1_000
/** When an address is taken without an election, in ms, and up to half as long more: others must not stall a node. */
export const ELECTION_DEADLINE_MS = 60_000

// Leadership transfer

/** How long after a node came, in ms, it may be named: a fixed address is announced by then. */
export const TRANSFER_GRACE_MS = 3_000
/** Changes of the ledger that come within this time, in ms, are judged together. */
export const TRANSFER_GATHER_MS = 500
/** How long a leader may stay without an address, in ms, before it counts as one that wants none. */
export const TRANSFER_PATIENCE_MS = 60_000
/** When a node of ours speaks for an elected one that is silent, in ms, and up to twice as long more. */
export const TRANSFER_FALLBACK_MS = 10_000

/** Bounds and times of what is there for legacy members only. First what their wire fixes, then what we chose. */

import type { ScopeLimits } from '@mesh/core/limits'

/** One packet on each stream (docs/WIRE.md 5.1). */
export const LEGACY_PROTOCOL = '/edgevpn/0.1'
/** The MTU of a legacy member's interface, in bytes. */
export const LEGACY_MTU = 1200

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
/** The most bytes that unfinished packets may hold, of all peers together and of one. */
export const UNFINISHED_BYTES = { all: 16 * 1024 * 1024, perPeer: 512 * 1024 } satisfies ScopeLimits

// Leadership transfer

/** How long after a node came, in ms, it may be named: a fixed address is announced by then. */
export const TRANSFER_GRACE_MS = 3_000
/** Changes of the ledger that come within this time, in ms, are judged together. */
export const TRANSFER_GATHER_MS = 500
/** How long a leader may stay without an address, in ms, before it counts as one that wants none. */
export const TRANSFER_PATIENCE_MS = 60_000
/** When a node of ours speaks for an elected one that is silent, in ms, and up to twice as long more. */
export const TRANSFER_FALLBACK_MS = 10_000

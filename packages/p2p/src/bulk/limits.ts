/** Bounds and times of the bulk path. The sizes of identity, key and frame header are fixed by the protocol. */
import type { BackoffBounds, ScopeLimits } from '@mesh/core/limits'

/** Protocol: length of a TLS identity, in bytes; it stands as base64url text in the handshake. */
export const IDENTITY_BYTES = 16
/** Protocol: length of a pre-shared key, in bytes. */
export const KEY_BYTES = 32
/** Protocol: one byte of type and three of length stand ahead of each frame. */
export const FRAME_HEADER_BYTES = 4
/** Longest protocol id in an `open` frame, in bytes. */
export const MAX_PROTOCOL_ID_BYTES = 128
/** Bytes of one data frame; more are sent as several frames. */
export const MAX_DATA_FRAME_BYTES = 1 << 20
/** Unsent bytes of a connection beyond which its stream takes no more: at least two reads of a socket. */
export const SEND_BUFFER_BYTES = 512 * 1024
/** The same where much waits on all streams together: as much as one block. */
export const SMALL_SEND_BUFFER_BYTES = 64 * 1024
/** Longest message on a control channel, in bytes. */
export const MAX_BULK_MESSAGE_BYTES = 256
/** Ports that one offer may name. */
export const MAX_OFFERED_PORTS = 4
/** Control channels that one peer may hold open here, of which one is in use and one may be about to end. */
export const MAX_CONTROL_CHANNELS_PER_PEER = 2
/** Requests to dial back that one control channel may make per minute. */
export const MAX_DIAL_BACKS_PER_MINUTE = 120

/** A socket that has sent nothing for so long goes to libp2p, which closes it in its own time, in ms. */
export const SNIFF_MS = 5_000
/** TLS handshakes under way. */
export const HANDSHAKES = { all: 128, perPeer: 32, perAddress: 64 } satisfies ScopeLimits
/** Time for a TLS handshake, with connecting where this side connects, in ms. */
export const HANDSHAKE_MS = 4_000
/** Connections that others open streams on: each takes 115 KB. Further streams go over libp2p. */
export const ACCEPTED = { all: 256, perPeer: 128, perAddress: 160 } satisfies ScopeLimits
/** A connection that the opener left without a ping for so long is closed by the accepting side, in ms. */
export const ACCEPTED_IDLE_MS = 90_000

/** Connections that are kept ready for a peer in use. */
export const READY_CONNECTIONS = 2
/** Ready connections that are kept after a burst until they are old; further ones are closed at once. */
export const MAX_IDLE_CONNECTIONS = 32
/** Connections that are being made to one peer at a time. */
export const MAX_PARALLEL_DIALS_PER_PEER = 16
/** Connections to one peer that this node opens streams on; further streams go over libp2p. */
export const MAX_OPENED_PER_PEER = 112
/** Connections in all that this node opens streams on. */
export const MAX_OPENED = 2_048
/** An idle connection is pinged after this time, and closed when it does not answer within it, in ms. */
export const IDLE_PING_MS = 20_000
/** Where a stream begins on a connection that was silent for so long, the peer is asked whether it is still there, in ms. */
export const STALE_MS = 5_000
/** Connections beyond the ready ones end when they were idle for so long, in ms. */
export const SPARE_IDLE_MS = 30_000
/** Nothing is kept ready for a peer to which no stream was opened for so long, in ms. */
export const UNUSED_PEER_MS = 300_000
/** Peers for which connections are kept ready. */
export const MAX_BULK_PEERS = 256

/** How long a stream may wait for its first connection beyond one round trip, in ms; then it goes over libp2p. */
export const OPEN_BUDGET_MS = 200
/** The same for a further connection while one is being made, in ms: handshakes of a burst slow each other. */
export const OPEN_BUDGET_REACHED_MS = 1_000
/** The offer and its answer, in ms. */
export const NEGOTIATE_MS = 5_000
/** Waits between two tries to reach a peer that could not be reached. */
export const RETRY = { leastMs: 5_000, mostMs: 600_000 } satisfies BackoffBounds
/** Streams end so long after the last libp2p connection with their peer, which is what proves that it is alive, in ms. */
export const DISCONNECTED_MS = 60_000
/** Between two TCP keep-alive probes of a silent connection, in ms. */
export const KEEP_ALIVE_MS = 30_000

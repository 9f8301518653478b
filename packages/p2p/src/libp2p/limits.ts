/** Bounds and times of the libp2p host. */
import type { RateInit } from '@mesh/core/limits'

/** Inbound connections a second from one address, which a whole office may share. */
export const MAX_INBOUND_PER_SECOND = 500
/** How many connections libp2p itself leaves room for besides all of these, so that none is refused unseen. */
export const SPARE_CONNECTIONS = 256
/** How often others may say who they are. */
export const IDENTIFIES = {
  perAddress: { perSecond: 10, burst: 200 },
  all: { perSecond: 100, burst: 600 },
} satisfies RateInit
/** Streams of pings that one connection may have. */
export const MAX_PING_STREAMS = 2
/** How long a stream of pings may be silent, in ms. */
export const PING_IDLE_MS = 10_000
/** The time between two pings of one connection, in ms: every 10 s they would cost more than gossip. */
export const PING_INTERVAL_MS = 60_000
/** How long a peer may take to say what it speaks, in ms; libp2p's own 5 s are short for a busy machine. */
export const IDENTIFY_TIMEOUT_MS = 10_000
/**
 * The same for a connection to a relay of this node, in ms. When a NAT restarts, nobody reaches this node there any more, and without
 * own traffic it would not notice. A hub of a thousand leaves gets 50 pings a second.
 */
export const RELAY_PING_INTERVAL_MS = 20_000
/** How long such a ping may be unanswered, in ms. */
export const RELAY_PING_TIMEOUT_MS = 5_000
/** How long a ping may be unanswered, in ms, until its connection is asked whether it still carries something. */
export const PING_TIMEOUT_MS = 10_000
/** Silence after a question that puts a connection in doubt, in ms: two round trips over a satellite. */
export const DOUBT_AFTER_MS = 1_000
/** The most relays that are asked when another connection is in doubt. */
export const MAX_ASKED_RELAYS = 8
/** How long it may be silent before it ends, in ms, where there is no reason to end it sooner: a machine may sleep so long. */
export const SILENT_AFTER_MS = 60_000
/** How long a connection over UDP that is in doubt may take to answer a ping, in ms. */
export const DEAD_AFTER_MS = 2_000
/** How long any other connection in doubt may take, in ms, behind what waits on a slow link: as long as two pings. */
export const DEAD_STREAM_AFTER_MS = 20_000
/** How long one may take whose peer has come by a new connection, in ms. */
export const REPLACED_AFTER_MS = 4_000
/** Requests for reservations and circuits. */
export const RELAY_REQUESTS = {
  perAddress: { perSecond: 20, burst: 600 },
  all: { perSecond: 60, burst: 1_200 },
} satisfies RateInit
/** How many bytes the unfinished frames of all peers may hold together; more where a network has frames of more than 20 MiB. */
export const MAX_HELD_BYTES = 32 * 1024 * 1024
/** How many of these bytes peers may hold that are not known as members, all of them together; more in such a network. */
export const MAX_STRANGERS_HELD_BYTES = 21 * 1024 * 1024
/** How many of these bytes one peer may hold: a frame of the greatest size, and a little; more in such a network. */
export const MAX_HELD_BYTES_PER_PEER = 21 * 1024 * 1024
/** How many bytes one peer may hold besides one frame of the greatest size. */
export const HELD_SPARE_BYTES = 1024 * 1024

/** Bounds and times of streams to members. */
import type { ScopeLimits } from '@mesh/core/limits'

/** How long a channel that was accepted and has heard nothing yet stays open after it was closed, in ms. */
export const ACCEPTED_CLOSE_DELAY_MS = 500
/** How long dialling, negotiating and proving may take together when a channel is opened, in ms. */
export const CHANNEL_OPEN_MS = 15_000
/** How many connections to a peer are tried for one channel, where each closes before the peer has proved itself. */
export const MAX_CONNECTIONS_TRIED = 3
/** Inbound streams of one protocol from one address, which a whole network of nodes may share. */
export const MAX_STREAMS_PER_ADDRESS = 512
/** Streams that wait for the proof of their connection: of one connection and of all. */
export const UNPROVEN_STREAMS = { all: 96, perPeer: 8 } satisfies ScopeLimits

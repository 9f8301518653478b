/** Bounds and times of channels. */

/** How long a peer may take nothing before its channel is reset, in ms. */
export const SEND_STALL_MS = 60_000
/** The most inbound channels of one peer at a time, where the protocol's handler does not say. */
export const DEFAULT_CHANNELS_PER_PEER = 8

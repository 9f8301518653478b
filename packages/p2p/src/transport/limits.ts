/** Bounds of the transports over sockets. */

/** Time between two looks for connections whose local address this machine has lost, in ms. */
export const OWN_ADDRESS_LOOK_MS = 1_500
/** Number of looks in a row that must miss the address: an address that is renewed is gone for a moment. */
export const MOVED_LOOKS = 2
/** Sockets that others opened and that are no connection yet: they wait for their first bytes or for time. */
export const ACCEPTING_SOCKETS = { all: 256, perAddress: 128, evict: 'oldest' } as const
/** Longest time that the other side of a TCP connection may be silent, in ms. */
export const IDLE_SOCKET_MS = 120_000
/** Longest time until an accepted socket is a WebSocket, in ms. */
export const WEBSOCKET_UPGRADE_MS = 10_000
/** Longest message on a WebSocket, in bytes: messages of the encryption have 64 KiB at most. */
export const MAX_WEBSOCKET_MESSAGE_BYTES = 256 * 1024
/** Bytes that wait to go out on a WebSocket until its writer is told to wait. */
export const WEBSOCKET_HIGH_WATER_BYTES = 1024 * 1024
/** Bytes that may still wait there when the writer is told to go on. */
export const WEBSOCKET_LOW_WATER_BYTES = 128 * 1024
/** Longest time that the other side of a WebSocket may take to close it, in ms. */
export const WEBSOCKET_CLOSE_MS = 1_000
/** Time between two looks whether a browser has sent what waits on a WebSocket, in ms. */
export const WEBSOCKET_DRAIN_LOOK_MS = 20

/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

// Connections

/**
 * Connections of one peer to the services of this node, and to its egress, at a time. A connection whose reader is slow
 * holds up to a stream's window (256 KiB, 1 MiB where it flowed fast before) and `SOCKET_BUFFER_BYTES`.
 */
export const MAX_PEER_CONNECTIONS = 512
/** The same of all peers together. */
export const MAX_SERVED_CONNECTIONS = 2_048
/** Local connections to one connected service, and to the proxy, at a time. */
export const MAX_LOCAL_CONNECTIONS = 1_024
/** Bytes waiting to be written to one socket beyond which its stream is paused. */
export const SOCKET_BUFFER_BYTES = 256 * 1024
/** From the opening of a stream to the end of its request. */
export const REQUEST_MS = 10_000
/** How long an answer may take: opening, the other side's wait for `users`, and its dialling of the target. */
export const ANSWER_MS = 20_000
/** How long the dialling of a target may take. */
export const DIAL_MS = 10_000
/** Longest request or answer in bytes; the client's entries are the most of it. */
export const MAX_REQUEST_BYTES = 8 * 1024
/** Longest reason in an answer, in characters; longer ones are cut. */
export const MAX_REASON_LENGTH = 300
/** A service's name in UTF-8, so that it is a key of the ledger that people can read. */
export const MAX_NAME_BYTES = 200
/** What a node offers, and what it connects to, at a time. */
export const MAX_SERVICES = 256

// `users`

/** How long the serving side waits for the entry of a peer that sent none with its request. */
export const USER_WAIT_MS = 3_000
/** How long this node's own entry may take until it is in the ledger: held while the node has not reconciled. */
export const OWN_USER_MS = 20_000

// Health of a target

/** Between two checks of a target that answers; connections that come through count as one. */
export const CHECK_INTERVAL_MS = 15_000
/** A target that did not answer once is asked again after this. */
export const RECHECK_MS = 1_000
/** Failed checks in a row after which a service is withdrawn. */
export const CHECKS_UNTIL_DOWN = 2
/** Growing waits between checks of a target that is down: at least, at most. */
export const DOWN_RETRY_LEAST_MS = 500
export const DOWN_RETRY_MOST_MS = 15_000
/** A check that takes longer has failed. */
export const CHECK_TIMEOUT_MS = 5_000
/** Withdrawing entries at the end: writes that are held must not hold the end up. */
export const WITHDRAW_MS = 1_000

// The connecting side

/** How long a local connection waits while no provider can be reached; then it is closed. */
export const LOCAL_WAIT_MS = 5_000
/** At its start a node has to find members and hear their ledger first: until then local connections wait longer. */
export const START_WAIT_MS = 10_000
/** Growing waits between tries to reach a provider: at least, at most. */
export const RECONNECT_LEAST_MS = 300
export const RECONNECT_MOST_MS = 15_000
/** Between two tries of one local connection that the provider did not take. */
export const RETRY_MS = 250
/** How often it is looked whether a provider is still alive, as a lease ends without an event. */
export const LIVENESS_LOOK_MS = 5_000

// Datagrams

/** Wire: the longest payload of UDP over IPv4. */
export const MAX_DATAGRAM_BYTES = 65_507
/** Sessions of one UDP listener: one for each local address that sends. */
export const MAX_UDP_SESSIONS = 512
/** A session over which nothing went for so long ends. */
export const UDP_IDLE_MS = 120_000
/** Datagrams that wait while a session is being opened; more are dropped. */
export const MAX_WAITING_DATAGRAMS = 16
/** Bytes that the kernel has not taken yet beyond which datagrams are dropped. */
export const MAX_UDP_SEND_QUEUE_BYTES = 1 << 20

// Legacy

/** A stream that a legacy provider has not reset after this time is taken as accepted: it sends no answer. */
export const LEGACY_TRIAL_MS = 400
/** Tries to have a stream accepted: a provider resets until our `users` entry has spread to it. */
export const LEGACY_TRIES = 8

// Egress and proxy

/** From a peer's first byte on a legacy stream to the end of its request. */
export const LEGACY_EGRESS_REQUEST_MS = 60_000
/** Longest head of a request or answer in bytes. */
export const MAX_HTTP_HEAD_BYTES = 64 * 1024
/** After its start, for so long, the proxy waits for an egress node to appear; later it says at once that none is. */
export const EGRESS_AWAITED_MS = 10_000
/** An egress node that could not be reached is asked after the others for so long. */
export const FAILED_EGRESS_MS = 30_000
/** Egress nodes that are tried for one request. */
export const MAX_EGRESS_TRIES = 3
/** A client of the proxy that has not said what it wants. */
export const PROXY_GREETING_MS = 10_000
/** Kept open to one origin for further requests. */
export const MAX_IDLE_TUNNELS = 32
/** A tunnel that was kept open for further requests ends after this time. */
export const IDLE_TUNNEL_MS = 30_000
/** A host name in characters, as DNS fixes it. */
export const MAX_HOST_LENGTH = 253
/** Addresses of one name that are tried. */
export const MAX_DIALLED_ADDRESSES = 4

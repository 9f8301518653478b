/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */
import type { ScopeLimits } from '@mesh/core/limits'

// Connections

/**
 * How many connections one peer may have to the services of this node, and to its egress, at a time. One whose reader
 * is slow holds up to a stream's window (256 KiB, 1 MiB where it flowed fast) and `SOCKET_BUFFER_BYTES`.
 */
export const MAX_PEER_CONNECTIONS = 512
/** Connections of members to the services and the egress of this node. Each takes about 32 KB of objects. */
export const SERVED_CONNECTIONS: ScopeLimits = {
  all: 1_280,
  perPeer: MAX_PEER_CONNECTIONS,
  perAddress: 640,
}
/** Local connections that one connected service, and the proxy, takes at a time. */
export const LOCAL_CONNECTIONS = { all: 1_024 } satisfies ScopeLimits
/** How many bytes may wait to be written to one socket before its stream is paused. */
export const SOCKET_BUFFER_BYTES = 256 * 1024
/** Bytes that wait to be written to the targets of services and of egress. */
export const SERVED_UNWRITTEN_BYTES = { all: 8 * 1024 * 1024, evict: 'largest' } satisfies ScopeLimits
/** Bytes that wait to be written to the local clients of this node. */
export const LOCAL_UNWRITTEN_BYTES = { all: 16 * 1024 * 1024, evict: 'largest' } satisfies ScopeLimits
/** Chunks of at least so many bytes are followed by more of the same stream, mostly at once. */
export const FULL_CHUNK_BYTES = 8_192
/** How many bytes one piece that waits counts for at least, however short it is: it takes about so much in memory. */
export const LEAST_PIECE_BYTES = 512
/** The number of these bytes from which on a stream is paused as soon as anything waits for its socket. */
export const MUCH_UNWRITTEN_BYTES = 2 * 1024 * 1024
/** How many bytes of a local connection are read, sent and kept before its service has answered; then it waits. */
export const MAX_EARLY_BYTES = 16 * 1024
/** How long a request may take, in ms, from the opening of its stream to its last byte. */
export const REQUEST_MS = 10_000
/** How long an answer may take, in ms: opening, the other side's wait for `users`, and its dialling of the target. */
export const ANSWER_MS = 20_000
/** How long the dialling of a target may take, in ms. */
export const DIAL_MS = 10_000
/** The longest request or answer in bytes; the client's entries are the most of it. */
export const MAX_REQUEST_BYTES = 8 * 1024
/** The longest reason in an answer, in characters; longer ones are cut. */
export const MAX_REASON_LENGTH = 300
/** The longest name of a service, in bytes of UTF-8: it is a key of the ledger that people can read. */
export const MAX_NAME_BYTES = 200
/** How many services a node offers, and how many it connects to, at a time. */
export const MAX_SERVICES = 512

// `users`

/** How long the serving side waits, in ms, for the entry of a peer that sent none with its request. */
export const USER_WAIT_MS = 3_000
/**
 * How long this node's own entry of `users` may take to be in the ledger, in ms: it is held until the node has
 * reconciled.
 */
export const OWN_USER_MS = 20_000

// Health of a target

/** The time between two checks of a target that answers, in ms; a connection that comes through counts as a check. */
export const CHECK_INTERVAL_MS = 15_000
/** The time, in ms, after which a target that did not answer once is asked again. */
export const RECHECK_MS = 1_000
/** How many checks in a row fail before a service is withdrawn. */
export const CHECKS_UNTIL_DOWN = 2
/** The first wait between checks of a target that is down, in ms; it grows with each failure. */
export const DOWN_RETRY_LEAST_MS = 500
/** The longest wait between checks of a target that is down, in ms. */
export const DOWN_RETRY_MOST_MS = 15_000
/** The time, in ms, after which a check without an outcome has failed. */
export const CHECK_TIMEOUT_MS = 5_000
/**
 * How long the end of a node waits for its entries to be withdrawn, in ms: writes that are held must not hold it up.
 */
export const WITHDRAW_MS = 1_000

// The connecting side

/** How long a local connection waits, in ms, while no provider can be reached; then it is closed. */
export const LOCAL_WAIT_MS = 5_000
/** How long local connections wait after the start, in ms: a node has to find members and hear their ledger first. */
export const START_WAIT_MS = 10_000
/** The first wait between tries to reach a provider, in ms; it grows with each failure. */
export const RECONNECT_LEAST_MS = 300
/** The longest wait between tries to reach a provider, in ms. */
export const RECONNECT_MOST_MS = 15_000
/** The wait between two tries of one local connection that the provider did not take, in ms. */
export const RETRY_MS = 250
/** How often, in ms, a node looks whether a provider is still alive: a lease ends without an event. */
export const LIVENESS_LOOK_MS = 5_000

// Several providers

/** How many providers of one name are looked at; keys of members cost nothing. */
export const MAX_PROVIDERS = 64
/** How many providers of one name this node keeps connections to: the one in use, and those that follow it. */
export const CONNECTED_PROVIDERS = 3
/** How long a provider that failed is tried after the others, in ms. */
export const FAILED_PROVIDER_MS = 10_000
/** How many failures, and names with their provider, are remembered. */
export const MAX_REMEMBERED_PROVIDERS = 4_096
/** Round trips that differ by less than this, in ms, or this part of the shorter one, count as equal. */
export const [EQUAL_RTT_MS, EQUAL_RTT_PART] = [5, 0.25]
/** How often connections to providers are looked at while they carry something, in ms. */
export const PROVIDER_LOOK_MS = 500
/** How long after its last byte a connection counts as in use, in ms. */
export const IN_USE_MS = 10_000
/**
 * How long a provider may be silent in use, in ms, until its connections end where another one can be reached. A new
 * connection goes elsewhere as soon as it is in doubt.
 */
export const SILENT_PROVIDER_MS = 2_500

// Datagrams

/** The longest payload of UDP over IPv4, in bytes, as the protocol fixes it. */
export const MAX_DATAGRAM_BYTES = 65_507
/** How many datagrams of those that come in one block of bytes are sent on; of more the rest is dropped. */
export const MAX_DATAGRAMS_AT_ONCE = 1_024
/** Sessions of a UDP listener: one for each local address that sends. */
export const UDP_SESSIONS = { all: 512 } satisfies ScopeLimits
/** How many of these have a TLS connection each; further ones share libp2p's, as TCP needs the few that a peer has more. */
export const MAX_BULK_UDP_SESSIONS = 16
/** The time, in ms, after which a session without a datagram ends. */
export const UDP_IDLE_MS = 120_000
/**
 * How many datagrams of one session wait while it is being opened; more are dropped. Sessions of a burst share the
 * processors with each other's handshakes, which can take a second.
 */
export const MAX_WAITING_DATAGRAMS = 128
/** How many bytes these datagrams have together. */
export const MAX_WAITING_DATAGRAM_BYTES = 128 * 1024
/** How many addresses of the name of a UDP target are tried. */
export const MAX_TARGET_ADDRESSES = 8
/**
 * The time, in ms, within which an address of a UDP target says that nobody listens there. What it was sent meanwhile
 * goes to the next address of the name.
 */
export const REFUSAL_WAIT_MS = 2_000
/** How many bytes of datagrams the kernel is asked to keep for a socket that is not read for a moment. */
export const UDP_BUFFER_BYTES = 1 << 20
/** How many bytes the kernel may have left untaken before datagrams are dropped. */
export const MAX_UDP_SEND_QUEUE_BYTES = 1 << 20

// Legacy

/**
 * The time, in ms, after which a stream that a legacy provider has not reset counts as accepted: it sends no answer.
 */
export const LEGACY_TRIAL_MS = 400
/** How often a stream to a legacy provider is tried: it resets them until our `users` entry has spread to it. */
export const LEGACY_TRIES = 8

// Egress and proxy

/** How long a request on a legacy stream may take, in ms, from the peer's first byte to its last. */
export const LEGACY_EGRESS_REQUEST_MS = 60_000
/** The longest head of an HTTP request or answer, in bytes. */
export const MAX_HTTP_HEAD_BYTES = 64 * 1024
/**
 * How long after its start the proxy waits for an egress node to appear and to be reached, in ms. Later it says at once
 * that none is there, and tries one that cannot be reached for `LOCAL_WAIT_MS`.
 */
export const EGRESS_AWAITED_MS = 10_000
/** How many interim answers (1xx) one request may have: a server sends one or two, and nothing slows it down. */
export const MAX_INTERIM_ANSWERS = 16
/** The number of pieces in which the body of a legacy member's request may come at once: a block of 64 KiB holds eleven thousand. */
export const MAX_PIECES_AT_ONCE = 512
/** How many bytes of such a request are parsed before it can be ended. */
export const REQUEST_PIECE_BYTES = 4 * 1024
/** How many bytes of what a stream brings Node's HTTP parses before it is looked whether this turn of the event loop has time left. */
export const HTTP_PIECE_BYTES = 16 * 1024
/** The number of bytes from which on a piece of a body is passed on by itself; smaller ones go on with those that follow. */
export const LARGE_PIECE_BYTES = 4 * 1024
/** How long an egress node that could not be reached is asked after the others, in ms. */
export const FAILED_EGRESS_MS = 30_000
/** How many egress nodes are tried for one request. */
export const MAX_EGRESS_TRIES = 3
/** How long a client of the proxy may take to say what it wants, in ms. */
export const PROXY_GREETING_MS = 10_000
/**
 * Bytes of incomplete requests, and of unread bytes behind others, of all clients of the proxy. Beyond it the client with the
 * most is reset, at the address with the most.
 */
export const CLIENT_UNREAD_BYTES = { all: 4 * 1024 * 1024, evict: 'largest' } as const
/** How many bytes may be unread behind a request that waits for its answer; of more the connection ends. */
export const MAX_CLIENT_BEHIND_BYTES = 64 * 1024
/** How many tunnels to one origin are kept open for further requests. */
export const MAX_IDLE_TUNNELS = 32
/** The time, in ms, after which a tunnel that is kept open for further requests ends. */
export const IDLE_TUNNEL_MS = 30_000
/** The longest host name in characters, as DNS fixes it. */
export const MAX_HOST_LENGTH = 253
/** How long a server may take to answer for a name that a member asks for, in ms, before it is asked again. */
export const NAME_TRY_MS = 2_000
/** How often each server is asked for such a name. */
export const NAME_TRIES = 2
/** How many look-ups by the system's resolver go on at a time: each holds one of the four threads that files need, too. */
export const MAX_SYSTEM_LOOKUPS = 2
/** Names that wait for such a look-up: of all askers, and of one. */
export const WAITING_NAMES = { all: 256, perAddress: 16 } satisfies ScopeLimits
/** How many addresses of one name are tried. */
export const MAX_DIALLED_ADDRESSES = 4

// Pools

/** How long after its `LastSeen` a service of a pool is used, in ms, as LocalAI does. */
export const POOL_SEEN_MS = 40_000
/** How many entries of a pool are looked at. */
export const MAX_POOL_SERVICES = 1_000
/** The longest value of a pool's entry that is read, in characters. */
export const MAX_POOL_BYTES = 4_096

/** Bounds and times of this package. What a protocol fixes is said so; the rest is our choice. */
import type { BackoffBounds, Rate, RateInit, ScopeLimits } from '@mesh/core/limits'

// Refusals

/** How many refusals of one code are told as events in a second; more are only counted. */
export const REFUSAL_EVENTS_PER_SECOND = 10

// Host

/** The most connections at a time; beyond it those to peers that are no members go first. */
export const MAX_CONNECTIONS = 300
/** The part of all connections that strangers leave free: at the limit itself nobody more is accepted. */
export const FREE_FOR_MEMBERS = 0.1
/**
 * How long a connection stays before its peer counts as a stranger, in ms: proofs may come late, and legacy nodes
 * show what they are every 10 s.
 */
export const STRANGER_STAYS_MS = 30_000
/**
 * The most inbound connections in a second from one address: behind it a whole office may sit, and who is refused costs
 * as much as who is let in and has to make way.
 */
export const MAX_INBOUND_PER_SECOND = 500
/** Inbound connections whose handshake is not finished: a silent one gives its place to a newcomer. */
export const PENDING_INBOUND = { all: 128, perAddress: 64, evict: 'oldest' } as const
/** The part of `--max-connections` that connections have besides which others opened and have not proven. */
export const UNPROVEN_PART = 0.25
/** The most of these connections. */
export const MAX_UNPROVEN_CONNECTIONS = 128
/** The least of them, however few connections there may be: newcomers need time to prove themselves. */
export const LEAST_UNPROVEN_CONNECTIONS = 48
/** The part of them that one address may have: an IPv4 address, or a /64 of IPv6. */
export const MAX_UNPROVEN_PER_ADDRESS_PART = 2 / 3
/** How long a member's connection stays before it makes way for another one of its address, in ms, where others can. */
export const LEAST_STAY_MS = 10_000
/** Delay before a peer may reconnect that was evicted for the second time. */
export const RETURN_DELAY = { leastMs: 2_000, mostMs: 60_000 } satisfies BackoffBounds
/** How many connections libp2p itself leaves room for besides all of these, so that none is refused unseen. */
export const SPARE_CONNECTIONS = 256
/** Messages on the data channels of a WebRTC connection to a peer that has proven nothing. */
export const UNPROVEN_CHANNEL_MESSAGES = { perPeer: { perSecond: 500, burst: 2_000 } } satisfies RateInit
/** Messages on one data channel: at 16 KiB a message it is twice what the library carries. */
export const CHANNEL_MESSAGES = { perSecond: 5_000, burst: 10_000 } satisfies Rate
/** Messages on the data channels of all WebRTC connections. */
export const CONNECTION_CHANNEL_MESSAGES = {
  perAddress: { perSecond: 10_000, burst: 20_000 },
  all: { perSecond: 20_000, burst: 40_000 },
} satisfies RateInit
/** How often others may say who they are. */
export const IDENTIFIES = {
  perAddress: { perSecond: 10, burst: 200 },
  all: { perSecond: 100, burst: 600 },
} satisfies RateInit
/** Questions to this node's DHT. */
export const DHT_QUESTIONS = {
  perAddress: { perSecond: 20, burst: 400 },
  all: { perSecond: 100, burst: 1_000 },
} satisfies RateInit
/** Records that others leave in this node's DHT. */
export const DHT_RECORDS = {
  perAddress: { perSecond: 1, burst: 100 },
  all: { perSecond: 3, burst: 600 },
} satisfies RateInit
/** Records that this node's DHT keeps: the oldest go. Each question for one looks through all of them. */
export const MAX_DHT_RECORDS = 4_096
/** Addresses whose streams are counted; of more, the one heard longest ago begins anew. */
export const MAX_RATED_ADDRESSES = 4_096
/** The longest id of a peer, in bytes: those that hold a key have 38 or 39, and others the 34 of a hash. */
export const MAX_PEER_ID_BYTES = 64
/** The longest message of a relay, which its specification fixes. */
export const MAX_RELAY_MESSAGE_BYTES = 4_096
/** The longest message by which a peer says what it is. */
export const MAX_IDENTIFY_BYTES = 8_192
/** How many bytes of these may come on one stream: go-libp2p sends the addresses in one and their signed record in another. */
export const MAX_IDENTIFY_STREAM_BYTES = 2 * MAX_IDENTIFY_BYTES
/** The longest question to this node's DHT: a record of a key has 10 KiB. */
export const MAX_DHT_QUESTION_BYTES = 16 * 1024
/** The longest answer of a DHT: twenty peers that are near and as many that provide, each with some fifty addresses. */
export const MAX_DHT_ANSWER_BYTES = 256 * 1024
/** The longest message by which two peers agree on a WebRTC connection. */
export const MAX_SIGNALLING_BYTES = 16 * 1024
/** WebRTC connections that others have begun, by signalling and as many by packets: each holds a socket for up to 10 s. */
export const PENDING_WEBRTC = { all: 32, perAddress: 16 } satisfies ScopeLimits
/** The most addresses that the other side of one WebRTC connection may name. */
export const MAX_CANDIDATES = 32
/** How many frames may begin in one message on a data channel: who writes sends one in each. */
export const MAX_FRAMES_IN_CHANNEL_MESSAGE = 16
/** How often this node says on one data channel that a stream has ended: each of both ends once, and once that it heard. */
export const MAX_CHANNEL_FLAGS = 8
/** How many fields one of these messages may have. */
export const MAX_MESSAGE_FIELDS = 4_096
/** How many lines are answered while a protocol is agreed on: a peer asks for one after the other that it speaks. */
export const MAX_NEGOTIATION_ANSWERS = 32
/** Pings a second that are answered on one connection in the long run; the library's echo has no bound. */
export const PINGS_PER_S = 5
/** The same at once: who measures a path sends a few in a row. */
export const PINGS_BURST = 40
/** Streams of pings that one connection may have. */
export const MAX_PING_STREAMS = 2
/** How long a stream of pings may be silent, in ms. */
export const PING_IDLE_MS = 10_000
/** The time between two pings of one connection, in ms: every 10 s they would cost more than gossip. */
export const PING_INTERVAL_MS = 60_000
/** How long a peer may take to say what it speaks, in ms; libp2p's own 5 s are short for a busy machine. */
export const IDENTIFY_TIMEOUT_MS = 10_000
/** How often this node looks which peers have not said what they speak, in ms. */
export const IDENTIFY_LOOK_MS = 5_000
/** How long after its connection opened such a peer is asked again, in ms; each time after twice as long. */
export const IDENTIFY_AGAIN_MS = 10_000
/** The longest time between two such questions, in ms. */
export const IDENTIFY_AGAIN_MOST_MS = 120_000
/** The most peers that are asked at a time. */
export const MAX_IDENTIFIED_AT_ONCE = 16
/** How long no more has changed of this node, in ms, when connected peers are told. */
export const PUSH_AFTER_MS = 1_000
/** The most connections with which changed addresses are told as soon as changed protocols. */
export const FEW_PUSHES = 8
/** How much later changed addresses are told for each connection beyond these, in ms: with fifty, after nine seconds. */
export const PUSH_FOR_EACH_MS = 200
/**
 * The same of a connection to a relay of this node, in ms: a NAT that restarts makes this node unreachable there, and where it
 * has nothing to send itself it would notice nothing. A hub of a thousand leaves is pinged 50 times a second so.
 */
export const RELAY_PING_INTERVAL_MS = 20_000
/** How long such a ping may be unanswered, in ms. */
export const RELAY_PING_TIMEOUT_MS = 5_000
/** How long a ping may be unanswered, in ms, until its connection is asked whether it still carries something. */
export const PING_TIMEOUT_MS = 10_000
/**
 * How long a connection that was asked may be silent before it is in doubt, in ms: two round trips over a satellite, and less
 * than a person takes for a failure.
 */
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
/** How long one has stood before that, in ms: of two that were dialled at once neither replaces the other. */
export const STOOD_BEFORE_MS = 5_000
/** The most protocols whose bandwidth is counted one by one. */
export const MAX_METERED_PROTOCOLS = 256
/** The most peers whose bandwidth is counted one by one. */
export const MAX_METERED_PEERS = 1024
/** The most peers whose state is kept, connected or not. */
export const MAX_KNOWN_PEERS = 1024
/** The most protocols that are kept of one peer; nodes speak some thirty. */
export const MAX_PEER_PROTOCOLS = 128
/** The most addresses that are kept and told for one peer. */
export const MAX_PEER_ADDRESSES = 16

// Dialling

/** How long one dial with all its addresses may take, in ms. */
export const DIAL_TIMEOUT_MS = 10_000
/** The head start of each address over the next one, in ms. */
export const DIAL_STAGGER_MS = 250
/** The head start of an address where somebody answered over the next one, in ms: the handshake of a busy machine takes long. */
export const ANSWERED_STAGGER_MS = 3_000
/** The head start of all direct addresses over relayed ones, in ms. */
export const RELAY_STAGGER_MS = 1_000
/** The most peers that are dialled at the same time; fewer, down to four, where handshakes are slow. */
export const MAX_PARALLEL_DIALS = 16
/** How long a direct dial takes, in ms, from which on half as many are begun at a time. */
export const SLOW_DIAL_MS = 3_000
/** How many more there may be of addresses that told of none of those. */
export const MAX_FURTHER_DIALS = 4
/** The most peers first heard of from others that are dialled in a minute. */
export const MAX_NEW_DIALS_PER_MINUTE = 30
/** How many more of those that addresses told of which had few dialled in that minute. */
export const MAX_FURTHER_NEW_DIALS = 15
/** How many dials of newcomers in a minute are few. */
export const FEW_NEW_DIALS = 5
/** The most peers in a minute, configured ones aside, that are dialled in vain, however often each of them. */
export const MAX_VAIN_DIALS_PER_MINUTE = 120
/** How many more of those that addresses told of which had few dialled in that minute. */
export const MAX_FURTHER_VAIN_DIALS = 30
/** Hosts that are dialled, of which it is remembered how that went. */
export const MAX_DIALLED_HOSTS = 4_096
/** Dials of one host at a time. */
export const MAX_DIALS_OF_HOST = 32
/** The same for a host at which none has succeeded. */
export const MAX_DIALS_OF_UNKNOWN_HOST = 8
/** Dials of one host that may fail in a row before it rests. */
export const FREE_HOST_FAILURES = 8
/** How long a host rests after the first failure beyond those. */
export const HOST_REST = { leastMs: 10_000, mostMs: 300_000 } satisfies BackoffBounds
/** After how long without a failure those before are forgotten, in ms. */
export const HOST_FORGIVEN_MS = 600_000
/** Addresses at which a dial succeeded that are remembered: they do not rest. */
export const MAX_PROVEN_ADDRESSES = 1_024
/** How long the greater id waits for the smaller one's dial when two peers find each other at once, in ms. */
export const GREATER_ID_WAITS_MS = 1_500
/** The longest time in ms that dials are taken to need: by so much what would double them begins later. */
export const MAX_DIAL_TOOK_MS = 5_000
/** The wait after the first failed dial of a peer, in ms; it doubles with each further one. */
export const DIAL_BACKOFF_MIN_MS = 2_000
/** The longest wait, in ms, of one that others go on telling of, without a new address. */
export const MENTIONED_BACKOFF_MAX_MS = 16_000
/** The longest wait between two dials of a peer, in ms. */
export const DIAL_BACKOFF_MAX_MS = 600_000
/**
 * The longest wait between two dials of a configured peer, in ms: everything hangs on these, so they are tried more
 * often.
 */
export const BOOTSTRAP_BACKOFF_MAX_MS = 15_000
/**
 * A connection that closes sooner than this, in ms, was none: from the second in a row on, the wait for the next dial is that after
 * failures.
 */
export const BRIEF_CONNECTION_MS = 10_000
/** The longest wait between two dials of a member that was connected before, in ms. */
export const MEMBER_BACKOFF_MAX_MS = 60_000
/** The number of failed dials in a row after which a peer that nobody mentions any more is dropped. */
export const MAX_DIAL_FAILURES = 10

// Passing on peers (docs/PROTOCOLS.md, 'Peers')

/** The most signed records in one message. */
export const MAX_RECORDS_PER_MESSAGE = 64
/** The longest signed peer record. */
export const MAX_PEER_RECORD_BYTES = 4_096
/** The most fields of one, its addresses among them: nodes tell of sixteen, legacy ones of some fifty. */
export const MAX_PEER_RECORD_FIELDS = 80
/** The longest message: as many records as it may carry, with what frames them. */
export const MAX_EXCHANGE_MESSAGE_BYTES = MAX_RECORDS_PER_MESSAGE * (MAX_PEER_RECORD_BYTES + 16)
/** The most records that are remembered for passing on. */
export const MAX_PEER_RECORDS = 512
/** How long changes are gathered before they are passed on, in ms. */
export const EXCHANGE_DELAY_MS = 200
/** The number of first messages to a member that need not keep the gap. */
export const EXCHANGE_BURST = 16
/** The least time between two messages to one member, in ms. */
export const EXCHANGE_GAP_MS = 2_000
/** The wait after a channel that could not be opened, or broke, in ms. */
export const EXCHANGE_RETRY_MS = 10_000
/** The most messages of one peer in a minute; more are dropped. */
export const MAX_EXCHANGE_MESSAGES_PER_MINUTE = 60
/** Records of peers that this node did not know, which the peers of one address, and all together, may tell. */
export const NEW_RECORDS = {
  perAddress: { perSecond: 5, burst: 600 },
  all: { perSecond: 20, burst: 1_200 },
} satisfies RateInit

// mDNS (RFC 6762; docs/WIRE.md 2.2)

/** The UDP port of mDNS, which RFC 6762 fixes. */
export const MDNS_PORT = 5353
/** The time from the first question to the second, in ms; it grows from question to question. */
export const MDNS_QUERY_MIN_MS = 4_000
/** The longest time between two questions, in ms: every 10 s they would cost 40 kB a minute among 20 nodes. */
export const MDNS_QUERY_MAX_MS = 60_000
/** The longest mDNS packet that is read. */
export const MAX_MDNS_PACKET_BYTES = 9_000
/** The most records of an mDNS packet that is read. */
export const MAX_MDNS_RECORDS = 64
/** Packets that are read; a flood is dropped unread. */
export const MDNS_PACKETS = {
  perAddress: { perSecond: 20, burst: 60 },
  all: { perSecond: 200, burst: 200 },
} satisfies RateInit
/** Peers that an address, and all together, may tell of. */
export const MDNS_FINDS = {
  perAddress: { perSecond: 5, burst: 64 },
  all: { perSecond: 50, burst: 500 },
} satisfies RateInit
/** The most interfaces and address families on which mDNS runs. */
export const MAX_MDNS_INTERFACES = 16

// DHT rendezvous (docs/WIRE.md 2.1)

/**
 * The time between two looks into the DHT once members were found, in ms; there is one at each change of the name,
 * too.
 */
export const RENDEZVOUS_INTERVAL_MS = 720_000
/** The time between two looks while nobody was found yet, in ms. */
export const RENDEZVOUS_LONELY_INTERVAL_MS = 15_000
/** The wait before the first look, in ms. */
export const RENDEZVOUS_START_MS = 500
/** How long one look may take, in ms. */
export const RENDEZVOUS_TIMEOUT_MS = 60_000
/** The most providers of one name that are read of what peers at one address answer; of more, any. */
export const MAX_PROVIDERS_OF_ADDRESS = 100
/** The most that are read of all answers; many name the same ones. */
export const MAX_PROVIDERS = 1_000

// Relays (docs/WIRE.md 6.4)

/** The most circuits that one peer may hold over this node (docs/WIRE.md 6.4). */
export const MAX_RELAY_CIRCUITS_PER_PEER = 64
/** The most circuits that the peers of one address may hold: an IPv4 address, or a /64 of IPv6. */
export const MAX_RELAY_CIRCUITS_PER_ADDRESS = 256
/** Requests for reservations and circuits. */
export const RELAY_REQUESTS = {
  perAddress: { perSecond: 20, burst: 600 },
  all: { perSecond: 60, burst: 1_200 },
} satisfies RateInit
/** The most bytes that one circuit carries, both directions together. */
export const RELAY_MAX_BYTES = 2 ** 30
/** How long one circuit may last, in ms. */
export const RELAY_MAX_DURATION_MS = 1_800_000
/** How long a reservation on this node lasts, in ms. */
export const RELAY_RESERVATION_MS = 3_600_000
/** Reservations at this node. */
export const RELAY_RESERVATIONS = { all: 128, perAddress: 48 } satisfies ScopeLimits
/** The number of relays on which this node holds a reservation at a time. */
export const RELAYS_WANTED = 2
/** How long a member that relays is known before it is asked for a reservation: several may appear at once. */
export const RELAY_CHECK_DELAY_MS = 100
/** How long a member that refused a reservation is left alone. */
export const RELAY_REFUSED_MS = 120_000
/** The waits before each try to make a relayed connection direct, in ms; the last one repeats. */
export const UPGRADE_RETRY_MS: readonly number[] = [500, 15_000, 60_000, 600_000]
/**
 * The most connections that are upgraded at the same time: each gathers addresses, sends checks to all of the
 * peer's, and holds the relay's time.
 */
export const MAX_PARALLEL_UPGRADES = 4
/** How long one try to become direct may take, in ms: ICE gathers addresses, checks them and gives up. */
export const UPGRADE_TIMEOUT_MS = 10_000
/** The greater id gives the smaller one's tries to make a connection direct this much time. */
export const UPGRADE_GREATER_ID_WAITS_MS = 5_000
/** How long a relayed connection stays beside the direct one that replaces it, in ms, so that streams can move. */
export const RELAYED_GRACE_MS = 5_000

// Speculative relays: relayed connections that nobody asked for (`reach/plan.ts`)

/** Speculative relayed connections open or being dialled at a time: each costs its relay as much as a member does. */
export const MAX_SPECULATIVE_RELAYED = 4
/** First dials over a relay are drawn by lot over this time, or all would go to the member that is named first. */
export const SPECULATIVE_SPREAD_MS = 1_500
/** The pause after a speculative connection that did not become direct. */
export const SPECULATIVE_PACE = { leastMs: 10_000, mostMs: 600_000 } satisfies BackoffBounds
/** How long one peer rests after a speculative connection to it failed: NATs seldom change. */
export const SPECULATIVE_REST = { leastMs: 600_000, mostMs: 7_200_000 } satisfies BackoffBounds
/** A relayed connection that is not direct after this time counts as failed, where nothing said so before. */
export const SPECULATIVE_TRY_MS = 30_000
/** How long a relayed connection that was asked for stays, in ms, whether it is used or not. */
export const ASKED_FOR_MS = 600_000
/** The head start of direct addresses where a connection is asked for, in ms: the caller waits. */
export const ASKED_RELAY_STAGGER_MS = 250
/** The wait from a failed try to the only other one, where a connection is asked for, in ms. */
export const CONNECT_RETRY_MS = 500
/** How often new addresses make one wait for a connection try a way again that had failed: anybody can tell new ones. */
export const MAX_DEMAND_NEWS = 4

// Streams

/** How many bytes may wait for a slow reader before the stream is paused; one frame may be longer. */
export const READ_HIGH_WATER_BYTES = 256 * 1024
/** How many bytes of one side of a circuit over this node may wait for the other side before it is not read any more. */
export const RELAY_HIGH_WATER_BYTES = 64 * 1024
/** How many bytes may still wait to go out when a writer is told to go on. */
export const SEND_LOW_WATER_BYTES = 64 * 1024
/**
 * How many bytes wait to go out on all byte streams when each is asked for more only once all of its own have gone out: with
 * two thousand slow readers of services 128 KiB each would be 250 MB.
 */
export const MUCH_UNSENT_BYTES = 4 * 1024 * 1024
/** How long a peer may take nothing before its channel is reset, in ms. */
export const SEND_STALL_MS = 60_000
/** How long both sides of a closed channel may take to say so, in ms. */
export const CHANNEL_CLOSE_MS = 10_000
/** How long a channel that was accepted and has heard nothing yet stays open after it was closed, in ms. */
export const ACCEPTED_CLOSE_DELAY_MS = 500
/** How long dialling, negotiating and proving may take together when a channel is opened, in ms. */
export const CHANNEL_OPEN_MS = 15_000
/** How many connections to a peer are tried for one channel, where each closes before the peer has proved itself. */
export const MAX_CONNECTIONS_TRIED = 3
/** The most inbound channels of one peer at a time, where the protocol's handler does not say. */
export const DEFAULT_CHANNELS_PER_PEER = 8
/**
 * The most inbound streams of one protocol that the peers of one address may have, where what one peer may have is no more:
 * a whole network of nodes may be behind it.
 */
export const MAX_STREAMS_PER_ADDRESS = 512
/** Streams that wait for the proof of their connection: of one connection and of all. */
export const UNPROVEN_STREAMS = { all: 96, perPeer: 8 } satisfies ScopeLimits

// Membership

/** How long a handshake may take, and a stream may wait for its connection's proof, in ms. */
export const MEMBER_HANDSHAKE_MS = 10_000
/** The longest handshake message; nonces and proofs are 32 bytes each. */
export const MAX_MEMBER_MESSAGE_BYTES = 256
/** The most handshakes on one connection; one is enough, others make up for lost ones. */
export const MAX_HANDSHAKES_PER_CONNECTION = 8
/** How long the side that was dialled waits for the other's handshake before it begins one, in ms. */
export const DIALLED_SIDE_WAITS_MS = 2_000
/** The waits between handshakes that were not answered, in ms. */
export const HANDSHAKE_RETRY_MS = [2_000, 8_000, 30_000] as const
/** How long a peer counts as a member after it authored a sealed message or its proven connection ended, in ms. */
export const HEARD_MEMBER_MS = 600_000
/** The most peers that are remembered as heard; the one heard longest ago makes room. */
export const MAX_HEARD_MEMBERS = 4096

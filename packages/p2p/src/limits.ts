/** Bounds and times of this package. What the wire fixes is said so; the rest is our choice. */

// Refusals

/** Refusals beyond this are counted and not told one by one. */
export const REFUSAL_EVENTS_PER_SECOND = 10

// Host

/** Connections at most; beyond it those to peers that are no members go first. */
export const MAX_CONNECTIONS = 300
/** The part of these that strangers leave free: at the limit itself nobody more is accepted. */
export const FREE_FOR_MEMBERS = 0.1
/** From a connection's opening: proofs may come late, and original nodes show what they are every 10 s. */
export const STRANGER_STAYS_MS = 30_000
/** Inbound connections per second from one address: a whole office may sit behind one. */
export const MAX_INBOUND_PER_SECOND = 64
/** Inbound connections that have not finished their handshake yet. */
export const MAX_PENDING_INBOUND = 64
/**
 * What a stream's window may grow to (from 256 KiB, which yamux fixes), and so what waits at most ahead of other
 * streams of the connection. 16 MiB (the default) overruns libp2p's read buffer of 4 MiB when a reader pauses. With
 * 256 KiB, 512 KiB and 1 MiB fixed, a short message beside bulk took 5, 15 and 14 to 70 ms over loopback on a machine
 * busy with other work; `streams/receive-window.ts` lets a window grow only as the path's round trip asks for it:
 * 1 MiB are 84 Mbit/s at 100 ms.
 */
export const STREAM_WINDOW_BYTES = 1 << 20
/**
 * Streams that may come before the accepting side is done with the connection; one more ends all of them. The dialling
 * side is done earlier, and 10 (the default) are opened at once by who has as many packets waiting.
 */
export const MAX_EARLY_STREAMS = 32
/** More unsent bytes on one stream reset it. */
export const STREAM_WRITE_BUFFER_BYTES = 8 << 20
/** Between two pings of one connection: at 10 s pings would cost more than gossip. */
export const PING_INTERVAL_MS = 60_000
/** An unanswered ping; two in a row end the connection. */
export const PING_TIMEOUT_MS = 10_000
/** Protocols that bandwidth is counted for one by one. */
export const MAX_METERED_PROTOCOLS = 256
/** Peers that bandwidth is counted for one by one. */
export const MAX_METERED_PEERS = 1024
/** Peers whose state is kept, connected or not. */
export const MAX_KNOWN_PEERS = 1024
/** Addresses kept and told for one peer. */
export const MAX_PEER_ADDRESSES = 16

// Dialling

/** One dial with all its addresses. */
export const DIAL_TIMEOUT_MS = 10_000
/** Head start of each address over the next one. */
export const DIAL_STAGGER_MS = 250
/** Head start of all direct addresses over relayed ones. */
export const RELAY_STAGGER_MS = 1_000
/** Peers that are dialled at the same time. */
export const MAX_PARALLEL_DIALS = 16
/** Peers first heard of from others that are dialled per minute. */
export const MAX_NEW_DIALS_PER_MINUTE = 30
/** Two peers that find each other at once: the greater id waits this long for the smaller one's dial. */
export const GREATER_ID_WAITS_MS = 1_500
export const DIAL_BACKOFF_MIN_MS = 2_000
export const DIAL_BACKOFF_MAX_MS = 600_000
/** Peers given by configuration are what everything hangs on, so they are tried more often. */
export const BOOTSTRAP_BACKOFF_MAX_MS = 15_000
/** Members that were connected before. */
export const MEMBER_BACKOFF_MAX_MS = 60_000
/** Failed dials in a row until a peer that nobody mentions any more is dropped. */
export const MAX_DIAL_FAILURES = 10

// Passing on peers (`/mesh/peers/1`)

/** Signed records in one message. */
export const MAX_RECORDS_PER_MESSAGE = 64
/** One signed peer record. */
export const MAX_PEER_RECORD_BYTES = 4_096
export const MAX_EXCHANGE_MESSAGE_BYTES = MAX_RECORDS_PER_MESSAGE * (MAX_PEER_RECORD_BYTES + 16)
/** Records remembered for passing on. */
export const MAX_PEER_RECORDS = 512
/** Changes are gathered this long before they are passed on. */
export const EXCHANGE_DELAY_MS = 200
/** The first messages to a member need not keep the gap. */
export const EXCHANGE_BURST = 16
/** Least time between two messages to one member. */
export const EXCHANGE_GAP_MS = 2_000
/** After a channel that could not be opened, or broke. */
export const EXCHANGE_RETRY_MS = 10_000
/** Messages of one peer per minute; more are dropped. */
export const MAX_EXCHANGE_MESSAGES_PER_MINUTE = 60

// mDNS (RFC 6762; docs/WIRE.md 2.2)

/** Wire: fixed by RFC 6762. */
export const MDNS_PORT = 5353
export const MDNS_QUERY_MIN_MS = 4_000
/** At 10 s queries would cost 40 kB a minute among 20 nodes. */
export const MDNS_QUERY_MAX_MS = 60_000
/** Larger packets and packets with more records are dropped unread. */
export const MAX_MDNS_PACKET_BYTES = 9_000
export const MAX_MDNS_RECORDS = 64
export const MAX_MDNS_PACKETS_PER_SECOND = 200
export const MAX_MDNS_INTERFACES = 16

// DHT rendezvous (docs/WIRE.md 2.1)

/** Between two runs in the end: they begin close together. There is one at each change of the window, too. */
export const RENDEZVOUS_INTERVAL_MS = 720_000
/** The same while nobody was found yet. */
export const RENDEZVOUS_LONELY_INTERVAL_MS = 15_000
export const RENDEZVOUS_START_MS = 500
export const RENDEZVOUS_TIMEOUT_MS = 60_000
/** Providers read for one key. */
export const MAX_PROVIDERS = 100

// Relays (docs/WIRE.md 6.4)

/** Wire 6.4: circuits that one peer may hold over us. */
export const MAX_RELAY_CIRCUITS_PER_PEER = 64
export const RELAY_MAX_BYTES = 2 ** 30
export const RELAY_MAX_DURATION_MS = 1_800_000
export const RELAY_RESERVATION_MS = 3_600_000
export const MAX_RELAY_RESERVATIONS = 128
/** Relays on which we hold a reservation at a time. */
export const RELAYS_WANTED = 2
/** How long a member that relays is known before it is asked for a reservation: several may appear at once. */
export const RELAY_CHECK_DELAY_MS = 100
/** How long a member that refused a reservation is left alone. */
export const RELAY_REFUSED_MS = 120_000
/** Waits before each try to make a relayed connection direct; the last one repeats. */
export const UPGRADE_RETRY_MS: readonly number[] = [500, 15_000, 60_000, 600_000]
/** Tried at the same time; each gathers addresses, sends checks to all of the peer's, and holds the relay's time. */
export const MAX_PARALLEL_UPGRADES = 4
/** One try: ICE gathers, checks and gives up. */
export const UPGRADE_TIMEOUT_MS = 10_000
/** The greater id gives the smaller one's tries to make a connection direct this much time. */
export const UPGRADE_GREATER_ID_WAITS_MS = 5_000
/** A relayed connection stays this long beside the direct one that replaces it, so that streams can move. */
export const RELAYED_GRACE_MS = 5_000

// Speculative relays: relayed connections that nobody asked for (reach/plan.ts)

/** Speculative relayed connections open or being dialled at a time: each costs its relay as much as a member does. */
export const MAX_SPECULATIVE_RELAYED = 4
/** First dials over a relay are drawn by lot over this time, or all would go to the member that is named first. */
export const SPECULATIVE_SPREAD_MS = 1_500
/** The pause after a speculative connection that did not become direct; each more in a row doubles it. */
export const SPECULATIVE_PACE_MIN_MS = 10_000
/** The longest pause between two speculative connections. */
export const SPECULATIVE_PACE_MAX_MS = 600_000
/** How long one peer rests after a speculative connection to it failed: NATs seldom change. Each more doubles it. */
export const SPECULATIVE_REST_MIN_MS = 600_000
/** The longest rest of one peer. */
export const SPECULATIVE_REST_MAX_MS = 7_200_000
/** A relayed connection that is not direct after this time counts as failed, where nothing said so before. */
export const SPECULATIVE_TRY_MS = 30_000
/** A relayed connection that was asked for stays so long, whether it is used or not. */
export const ASKED_FOR_MS = 600_000
/** Head start of direct addresses where a connection is asked for: who asks waits. */
export const ASKED_RELAY_STAGGER_MS = 250
/** From a failed try to the only other one, where a connection is asked for. */
export const CONNECT_RETRY_MS = 500

// AutoNAT

/** How often members are asked to dial addresses that nobody has confirmed. */
export const AUTONAT_ASK_MS = 5_000
/** Peers asked at a time; the library itself asks three at once. */
export const MAX_AUTONAT_ASKED = 8

// STUN (RFC 8489)

export const MAX_STUN_PACKET_BYTES = 576
export const MAX_STUN_PER_SECOND = 200
/** Servers named to WebRTC, which warns of five or more. */
export const MAX_STUN_SERVERS = 2

// Streams

/** Bytes waiting for a slow reader beyond which the stream is paused; one frame may be longer. */
export const READ_HIGH_WATER_BYTES = 256 * 1024
/** Bytes waiting to go out below which a writer may go on. */
export const SEND_LOW_WATER_BYTES = 64 * 1024
/** A peer that takes nothing for so long gets its channel reset. */
export const SEND_STALL_MS = 60_000
/** How long both sides of a closed channel may take to say so. */
export const CHANNEL_CLOSE_MS = 10_000
/** A channel that was accepted and has heard nothing yet stays open for so long after it was closed. */
export const ACCEPTED_CLOSE_DELAY_MS = 500
/** Dialling, negotiating and proving together, when a channel is opened. */
export const CHANNEL_OPEN_MS = 15_000
/** Inbound channels of one peer at a time, where the protocol's handler does not say. */
export const DEFAULT_CHANNELS_PER_PEER = 8
/** Inbound streams of a connection that wait for its proof; more are reset. */
export const MAX_UNPROVEN_STREAMS = 8

// Membership

/** From a connection's first handshake stream to its proof. */
export const MEMBER_HANDSHAKE_MS = 10_000
/** Nonces and proofs are 32 bytes each. */
export const MAX_MEMBER_MESSAGE_BYTES = 256
/** Handshakes that a connection may begin; one is enough, others make up for lost ones. */
export const MAX_HANDSHAKES_PER_CONNECTION = 8
/** The side that was dialled waits so long for the other's handshake before it begins one. */
export const DIALLED_SIDE_WAITS_MS = 2_000
/** Waits between handshakes that were not answered. */
export const HANDSHAKE_RETRY_MS = [2_000, 8_000, 30_000] as const
/** A peer counts as a member so long after it authored a sealed message or its proven connection ended. */
export const HEARD_MEMBER_MS = 600_000
/** Peers remembered as heard; the one heard longest ago makes room. */
export const MAX_HEARD_MEMBERS = 4096

// Room (docs/WIRE.md 3)

/** What an envelope and its signed pubsub frame add to the sealed hex, generously. */
export const ROOM_OVERHEAD_BYTES = 1024
/** Subscribed to the next topic so long before it begins; less where windows are short. */
export const TOPIC_LEAD_MS = 3_000
/** Still on the previous topic so long after it ended; less where windows are short. */
export const TOPIC_LINGER_MS = 5_000
/** Original nodes look at the clock once a second, then need their new streams: what was published around a
 * boundary is published again so long after it. */
export const REPUBLISH_DELAY_MS = 2_000
/** How long before a boundary a publication counts as being around it. */
export const REPUBLISH_BEFORE_MS = 1_500
/** Publications kept for that, by number and by bytes. */
export const MAX_REPUBLISHED = 256
export const MAX_REPUBLISHED_BYTES = 4 * 1024 * 1024
/** Envelopes remembered so that one that came on two topics is told once. */
export const MAX_REMEMBERED_ENVELOPES = 16_384
/** The room looks at the clock at least so often: the machine may have slept. */
export const ROOM_TICK_MS = 1_000
/** Up to so many peers on the topic, publications go to each of them directly. */
export const FLOOD_PUBLISH_PEERS = 8
/** So long after peers or topics changed, they do too: the mesh may not have formed yet. */
export const FLOOD_PUBLISH_SETTLE_MS = 10_000
/** A first inbound gossip stream that did not end so long after a second one came counts as closed. */
export const STREAM_END_GRACE_MS = 200
/** A peer without an outbound gossip stream gets one so long after its inbound one. */
export const STREAM_REPAIR_MS = 500
/** Waits between tries to open a gossip stream again; the last one repeats. */
export const STREAM_REPAIR_BACKOFF_MS = [0, 1_000, 2_000, 5_000, 15_000, 30_000] as const
/** Least time between two replacements of one peer's outbound gossip stream. */
export const STREAM_REPLACE_MIN_MS = 1_000
/** A PRUNE so soon after our GRAFT says that the peer never takes us into its mesh. */
export const PRUNED_AT_ONCE_MS = 3_000
/** Links that nobody picks any more are given up when peers did not change for so long. */
export const MESH_SETTLE_MS = 5_000
/** A link that was given up is not taken up again for so long; gossipsub tells it in whole seconds. */
export const LINK_BACKOFF_MS = 1_000
/** A link beyond those that are picked, by which something came that came by no other, stays for so long. */
export const USEFUL_LINK_MIN_MS = 30_000
/** So many times, which a burst of writes seldom outlasts; from then on four times as long each time. */
export const USEFUL_LINK_TRIALS = 4
/** Until so long. */
export const USEFUL_LINK_MAX_MS = 4 * 3_600_000
/** With so few peers on a topic each is linked to at once. */
export const FEW_PEERS = 3
/** Links are picked so long after what they are subscribed to changed. */
export const MESH_FILL_DELAY_MS = 250
/** Gossip that may wait for a slow peer, besides one message of the greatest size. */
export const OUTBOUND_SPARE_BYTES = 1024 * 1024
/** Unfinished gossip frames of peers that are not known as members, all together; a frame may be 20 MiB long. */
export const MAX_STRANGERS_HELD_BYTES = 64 * 1024 * 1024
/** What each of them may hold in any case: most messages are smaller. */
export const FREE_HELD_BYTES = 256 * 1024
/** Topics that one peer may be subscribed to, about one for each KiB. */
export const MAX_TOPIC_BYTES_PER_PEER = 64 * 1024

/** Bounds and times of gossip. */
import type { RateInit, ScopeLimits } from '@mesh/core/limits'

/** The bytes that an envelope and its signed pubsub frame add to the sealed hex, generously. */
export const GOSSIP_OVERHEAD_BYTES = 1024
/** How many values an envelope may have that is not written as legacy nodes write it. */
export const MAX_ENVELOPE_PARTS = 256
/** The longest message on the public topic; a challenge has about 600 bytes. */
export const MAX_PUBLIC_MESSAGE_BYTES = 4_096
/** Messages of the public topic, by author. */
export const PUBLIC_MESSAGES_OF_AUTHOR = { perPeer: { perSecond: 0.2, burst: 4 } } satisfies RateInit
/** The same by the address of the peer that passes them on. */
export const PUBLIC_MESSAGES = {
  perAddress: { perSecond: 2, burst: 32 },
  all: { perSecond: 8, burst: 64 },
} satisfies RateInit
/** How long before a window begins its topic is subscribed to, in ms; less where windows are short. */
export const TOPIC_LEAD_MS = 3_000
/** How long after a window ended its topic stays in use, in ms; less where windows are short. */
export const TOPIC_LINGER_MS = 5_000
/** How long after a boundary publications are repeated, in ms: legacy nodes look at the clock once a second. */
export const REPUBLISH_DELAY_MS = 2_000
/** How long before a boundary a publication counts as being around it, in ms. */
export const REPUBLISH_BEFORE_MS = 1_500
/** The number of envelopes that are remembered, so that one that came on two topics is told once. */
export const MAX_REMEMBERED_ENVELOPES = 16_384
/** The longest time between two looks at the clock, in ms: the machine may have slept. */
export const GOSSIP_TICK_MS = 1_000
/** The most peers on the topic with which publications go to each of them directly. */
export const FLOOD_PUBLISH_PEERS = 8
/** How long after peers or topics changed each peer is sent to directly, in ms: the mesh may not stand yet. */
export const FLOOD_PUBLISH_AFTER_CHANGE_MS = 10_000
/** Peers on the topic up to which that holds for every mesh. With fifty it would be most of what starting nodes send. */
export const FLOOD_PUBLISH_CHANGING_PEERS = 16
/** How long after its inbound gossip stream a peer without an outbound one gets one, in ms. */
export const STREAM_REPAIR_MS = 500
/** The waits between tries to open a gossip stream again, in ms; the last one repeats. */
export const STREAM_REPAIR_BACKOFF_MS = [0, 1_000, 2_000, 5_000, 15_000, 30_000] as const
/** The least time between two replacements of one peer's outbound gossip stream, in ms. */
export const STREAM_REPLACE_MIN_MS = 1_000
/** How long peers must not have changed before mesh peers that nobody picks any more are given up, in ms. */
export const MESH_TRIM_DELAY_MS = 5_000
/** How long a mesh peer that was given up is not grafted again, in ms; gossipsub tells it in whole seconds. */
export const MESH_PEER_BACKOFF_MS = 1_000
/** How long a peer that had a message which no mesh peer had sent stays a mesh peer at first, in ms. */
export const USEFUL_MESH_PEER_MIN_MS = 30_000
/** How often it stays for the least time, which outlasts a burst of writes; then four times as long each time. */
export const USEFUL_MESH_PEER_TRIALS = 4
/** The most such peers of one topic at a time. */
export const MAX_USEFUL_MESH_PEERS = 3
/** The longest time that such a peer stays a mesh peer before it is tried again, in ms. */
export const USEFUL_MESH_PEER_MAX_MS = 4 * 3_600_000
/** The most peers on a topic with which each becomes a mesh peer at once. */
export const FEW_PEERS = 3
/** How long after subscriptions changed mesh peers are picked, in ms. */
export const MESH_FILL_DELAY_MS = 250
/** The same where a node has mesh peers already, and many are on the topic, in ms. */
export const MESH_REFILL_DELAY_MS = 2_000
/** How many bytes of gossip may wait for a slow peer, besides one message of the greatest size. */
export const OUTBOUND_SPARE_BYTES = 1024 * 1024
/**
 * Bytes of gossip that peers had not read when the next frame came, of all together. The frames of one message are one in
 * memory. The stream with the most resets; it opens again, and its peer compares ledgers.
 */
export const SLOW_GOSSIP_BYTES = { all: 64 * 1024 * 1024, evict: 'largest' } satisfies ScopeLimits
/** How many bytes of messages are kept for peers that ask for them later. */
export const MAX_CACHED_MESSAGE_BYTES = 4 * 1024 * 1024
/** How many bytes of topics one peer may be subscribed to, about one topic for each KiB. */
export const MAX_TOPIC_BYTES_PER_PEER = 64 * 1024

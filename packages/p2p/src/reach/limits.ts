/** Bounds and times of reaching peers: searches, dials, upgrades and reservations. */
import type { BackoffBounds } from '@mesh/core/limits'

/** The part of all connections that strangers leave free: at the limit itself nobody more is accepted. */
export const FREE_FOR_MEMBERS = 0.1
/** How long a peer may take to prove itself, in ms, before its connection counts as a stranger's. */
export const STRANGER_STAYS_MS = 30_000
/** How long one dial with all its addresses may take, in ms. */
export const DIAL_TIMEOUT_MS = 10_000
/** The head start of each address over the next one, in ms. */
export const DIAL_STAGGER_MS = 250
/** The head start of all direct addresses over relayed ones, in ms. */
export const RELAY_STAGGER_MS = 1_000
/** The most peers that are dialled at the same time. */
export const MAX_PARALLEL_DIALS = 16
/** How many more there may be of addresses that told of none of those. */
export const MAX_FURTHER_DIALS = 4
/** How many dials in a minute of peers that one address told of are few. */
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
/** The wait after the first failed dial of a peer, in ms; it doubles with each further one. */
export const DIAL_BACKOFF_MIN_MS = 2_000
/** The longest wait, in ms, of one that others go on telling of, without a new address. */
export const MENTIONED_BACKOFF_MAX_MS = 16_000
/** The longest wait between two dials of a peer, in ms. */
export const DIAL_BACKOFF_MAX_MS = 600_000
/** The longest wait between two dials of a configured peer, in ms: everything hangs on these. */
export const BOOTSTRAP_BACKOFF_MAX_MS = 15_000
/** Shortest connection that counts, in ms. From the second shorter one in a row on, dials back off. */
export const BRIEF_CONNECTION_MS = 10_000
/** The longest wait between two dials of a member that was connected before, in ms. */
export const MEMBER_BACKOFF_MAX_MS = 60_000
/** The number of failed dials in a row after which a peer that nobody mentions any more is dropped. */
export const MAX_DIAL_FAILURES = 10
/** The number of relays on which this node holds a reservation at a time. */
export const RELAYS_WANTED = 2
/** How long a member that relays is known before it is asked for a reservation: several may appear at once. */
export const RELAY_CHECK_DELAY_MS = 100
/** How long a member that refused a reservation is left alone. */
export const RELAY_REFUSED_MS = 120_000
/** The waits before each try to make a relayed connection direct, in ms; the last one repeats. */
export const UPGRADE_RETRY_MS: readonly number[] = [500, 15_000, 60_000, 600_000]
/** The most connections that are upgraded at the same time: each costs the relay time. */
export const MAX_PARALLEL_UPGRADES = 4
/** How long one try to become direct may take, in ms: ICE gathers addresses, checks them and gives up. */
export const UPGRADE_TIMEOUT_MS = 10_000
/** The greater id gives the smaller one's tries to make a connection direct this much time. */
export const UPGRADE_GREATER_ID_WAITS_MS = 5_000
/** How long a relayed connection stays beside the direct one that replaces it, in ms, so that streams can move. */
export const RELAYED_GRACE_MS = 5_000
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

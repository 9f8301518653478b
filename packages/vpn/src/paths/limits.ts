/** Bounds and times of the paths over UDP. First what the protocol fixes, then what we chose. */
import type { RateInit } from '@mesh/core/limits'

/** Length of the secret that each end gives the other for their probes. */
export const PATH_SECRET_BYTES = 32
/** Length of the token by which probes name the pair of peers. */
export const PATH_TOKEN_BYTES = 8
/** Length of the code that proves a probe. */
export const PROBE_MAC_BYTES = 16
/** The bytes that WireGuard adds to a packet. */
export const SEAL_BYTES = 32

/** The most paths that are known to one peer: its addresses, with those that its probes came from, by each socket. */
export const MAX_PATHS = 40
/** The least MTU of a path, in bytes: IPv6 inside of the tunnel needs it. A tunnel with a smaller one asks no more of its paths. */
export const LEAST_PATH_MTU = 1280
/** The MTUs that are tried in order where the wanted one does not pass, in bytes. */
export const PATH_MTUS: readonly number[] = [8_900, 4_000, 1_440, 1_420, 1_400, 1_380, 1_340, LEAST_PATH_MTU]
/** How many probes of one length are lost before a shorter one is tried. */
export const MTU_TRIES = 2
/**
 * How long after its MTU was found longer packets are tried on the path in use, in ms, where both ends would take such.
 * Each time that it did not grow the wait doubles, up to the most, which is that of RFC 8899 (PMTU_RAISE_TIMER).
 */
export const [LEAST_RAISE_MS, MOST_RAISE_MS] = [30_000, 600_000]

/** How long after the beginning of a search its rounds of probes are sent, in ms. */
export const ROUNDS_MS: readonly number[] = [0, 200, 400, 600, 800, 2_000, 4_000, 8_000]
/** How often a search is begun anew while packets pass and there is no path, in ms. */
export const SEARCH_AGAIN_MS = 30_000
/** How often within `LATELY_LOST_MS` of the loss of a path: most come back soon. */
export const SEARCH_LOST_MS = 10_000
/** How long a path counts as lost lately, in ms. */
export const LATELY_LOST_MS = 120_000
/** How long a peer counts as new, in ms: a search that a busy machine missed is repeated as soon as one for a lost path. */
export const LATELY_MET_MS = 45_000
/** The most searches of one peer that its own messages begin in a minute. */
export const TOLD_SEARCHES_PER_MINUTE = 12
/** How often other addresses than the one in use are probed, in ms. */
export const ALTERNATIVES_MS = 30_000

/** How often, while the path in use has an older mapping than one of them, in ms. */
export const YOUNGER_MS = 1_000

/** How often the path in use is probed while packets pass, in ms. */
export const PROBE_EVERY_MS = 700
/** How often it is probed while none do and a NAT is on it, in ms: NATs forget after 30 s and more. */
export const KEEPALIVE_MS = 15_000
/** How many probes from another port of the address in use are remembered: they may be copies. */
export const OTHER_PORTS_KEPT = 8
/** How long other ports say nothing of the path in use once one was such a copy, in ms: whoever makes them makes more. */
export const COPIED_MS = 60_000
/** How old an answer may be, in ms, for a path to be trusted alone with the first packets after a silence. */
export const FRESH_MS = 20_000
/** How many breaks of a path are remembered, for the period of a NAT that forgets. */
export const BREAKS_KEPT = 4
/** The time within which all that shows is one break, in ms. */
export const ONE_BREAK_MS = 5_000
/** The least and the most time between breaks, and the least and the most life of a mapping, in ms, that make a period. */
export const [LEAST_BREAK_MS, MOST_BREAK_MS] = [12_000, 180_000]
/** How much longer the longest time between breaks of a period may be than the shortest. */
export const MOST_BREAK_RATIO = 1.7
/** The part of the shortest time between breaks after which the next one is expected. */
export const BREAK_EARLY_PART = 0.9
/** The part of the longest time between breaks after which the next one is not expected any more. */
export const BREAK_LATE_PART = 1.3
/** How many lives of this node's own mappings are remembered. */
export const LIVES_KEPT = 4
/** How many that were short it takes, one after the other, for a NAT to be one that forgets. */
export const SHORT_LIVES = 2
/** The part of the shortest life after which a new mapping is made: lives differ by half of the shortest. */
export const RENEW_PART = 0.65
/** The part of the shortest life that the mapping in use reaches, unless the NAT restarted: lives differ by less. */
export const YOUNG_PART = 0.5
/** How long an answer is waited for, in ms, before one that is missing ends what was known of a mapping's life. */
export const WORD_MS = 20_000
/** How long the socket that was in use before stays open, in ms, for what still comes there. */
export const OLD_SOCKET_MS = 20_000
/** How often the engine's own socket is probed while another is in use, in ms. */
export const MEASURE_MS = 5_000
/** How often a suspect path is probed, in ms. */
export const SUSPECT_PROBE_MS = 500
/** The least and the most that is waited for an answer, in ms. */
export const [LEAST_ANSWER_MS, MOST_ANSWER_MS] = [500, 1_000]
/** Probes that are lost in a row before a path is dead; the first makes it suspect. */
export const LOST_PROBES = 3
/** How many probes that were taken for lost are remembered of a path: their answers may only be late. */
export const GIVEN_UP_KEPT = 8
/** Those after which a path that answers takes the place of one that is suspect. */
export const LEFT_PROBES = 2
/** How long packets have to stop, in ms, until the path in use is probed seldom. */
export const ACTIVE_MS = 10_000
/**
 * Most peers at which a new path is probed as often as one in use, before packets have passed. With fifty machines that start
 * together, probes of unused paths would be half of all packets.
 */
export const WATCHED_UNUSED_PATHS = 8
/** How long packets have to stop, in ms, until a path is let go. */
export const IDLE_MS = 300_000
/** How long a proof that a path works holds for one that is not in use, in ms. */
export const PROOF_MS = 5_000
/** How long a peer's own probe counts as heard, in ms. */
export const HEARD_MS = 60_000

/** How long an address that was never told is kept, in ms, from which nothing comes. */
export const GONE_MS = 120_000

/** A path is better when its round trip is shorter by this many ms. */
export const BETTER_MS = 10
/** A path is better, too, when its round trip is shorter by this part of it. */
export const BETTER_PART = 0.2
/** The least difference of round trips that is no noise, in ms. */
export const LEAST_BETTER_MS = 1
/** The number of probes in a row in which a path has to be better. */
export const BETTER_PROBES = 3

/** How often the engine is asked for whom packets passed, in ms. */
export const ACTIVITY_MS = 500
/** How often this machine's own addresses are looked at, in ms. */
export const OWN_ADDRESSES_MS = 3_000
/** How old a word of where the socket was seen may be, in ms, for a guest to be told it: those who are kept tell often. */
export const SEEN_LATELY_MS = 60_000
/** How many addresses at which others saw this socket are told. */
export const MAX_SEEN = 4
/** How many ports of routers that lead to this socket are told. */
export const MAX_MAPPED = 4
/** The time in ms within which changes of this node's addresses are told in one message. */
export const TELL_AFTER_MS = 250
/** The number of messages a minute that are sent to one peer so soon. */
export const QUICK_TELLS = 10
/** The time between further ones, in ms: the peer ends a channel that brings 60 a minute. */
export const SLOW_TELL_MS = 6_000
/** Addresses and peers whose probes are counted; of more, the one probed longest ago begins anew. */
const maxRemembered = 4_096
/** Probes to addresses that answered. */
export const PROBES = {
  perPeer: { perSecond: 40, burst: 200 },
  all: { perSecond: 1_000, burst: 1_000 },
  maxRemembered,
} satisfies RateInit
/**
 * Probes to addresses that a peer named and that never answered: they may be those of strangers. A search sends eight to each
 * address.
 */
export const UNPROVEN_PROBES = {
  perPeer: { perSecond: 5, burst: 300 },
  perAddress: { perSecond: 50, burst: 750 },
  all: { perSecond: 100, burst: 1_500 },
  maxRemembered,
} satisfies RateInit
/** The same to one address, for all peers that named it: many members may be behind one NAT. */
export const PROBES_TO_UNPROVEN = {
  perAddress: { perSecond: 10, burst: 300 },
  maxRemembered,
} satisfies RateInit
/** Answers to the probes of one peer from addresses that answered. */
export const ANSWERS = { perPeer: { perSecond: 40, burst: 40 }, maxRemembered } satisfies RateInit
/** Answers to probes from addresses that never answered: an attacker on the way may replay probes from anywhere. */
export const UNPROVEN_ANSWERS = {
  perPeer: { perSecond: 40, burst: 40 },
  perAddress: { perSecond: 100, burst: 1_500 },
  all: { perSecond: 200, burst: 3_000 },
  maxRemembered,
} satisfies RateInit
/** The same to one address. */
export const ANSWERS_TO_UNPROVEN = {
  perAddress: { perSecond: 50, burst: 1_500 },
  maxRemembered,
} satisfies RateInit
/** How often, at most, those are asked when a path is in doubt, in ms. */
export const ASK_WITNESSES_MS = 1_000
/** How many paths are kept for the sake of knowing how others see this socket. */
export const KEPT_PATHS = 3

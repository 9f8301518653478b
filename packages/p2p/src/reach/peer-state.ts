/**
 * The state of one peer that the node wants to reach. `step.ts` is the pure state machine, `plan.ts` divides what is scarce between
 * peers, `reach.ts` does the IO. Times are monotonic milliseconds. The rules:
 *
 * 1. Found: the smaller peer id dials at once, the greater one waits. Configured peers are dialled at once.
 * 2. Dialled: addresses race with head starts, relayed ones last. Dials are bounded in all, by host, and for new peers by minute.
 * 3. Failed: the delay doubles up to a bound for each kind. Configured peers are never given up.
 * 4. Only relayed: one speculative connection at a time, more after each that becomes direct.
 * 5. Asked for: a peer with a waiting stream is dialled at once, and its relayed connection is kept.
 * 6. Connected twice: the connection that the greater id dialled closes, unless it is being tested or in use.
 * 7. Relayed: made direct by new dials and by WebRTC, a few peers at a time.
 * 8. Lost: members and configured peers are dialled again where they were last. Silent connections do not count.
 * 9. Relays: reservations at directly connected members, one request at a time.
 * 10. Full: strangers close first, the oldest first.
 */
import { ASKED_FOR_MS } from './limits.ts'

/** `configured`: a person named it. `member`: was connected as a member. `found`: only heard of. */
export type PeerKind = 'configured' | 'member' | 'found'

/** The method of a dial: the peer's own addresses, a relay, or WebRTC signalled over a relay. */
export type Route = 'direct' | 'relay' | 'webrtc'

/** The reasons for which a dial runs; one dial may serve several. */
export type Purpose = 'search' | 'demand' | 'upgrade'

export interface PeerAddress {
  readonly text: string
  /** The peer that relays; undefined: the address leads straight to its peer. */
  readonly relay: string | undefined
}

/** An open connection as the shell sees it. */
export interface SeenConnection {
  readonly id: string
  readonly direct: boolean
  /** True when this node dialled. */
  readonly outbound: boolean
  /** `tcp`, `webrtc`, ...; undefined: not known. */
  readonly transport: string | undefined
  /** Where its relay is, without `/p2p-circuit`; undefined for direct ones. */
  readonly relayAt: string | undefined
  /** Carries streams beyond those that every connection carries by itself. */
  readonly used: boolean
  /** AutoNAT tries an address by it. */
  readonly dialsBack: boolean
  /** When it was opened, in Unix ms. */
  readonly openedAt: number
  /** It was asked whether it still carries something, and has not answered. */
  readonly asked: boolean
}

export interface PeerConnection extends SeenConnection {
  readonly since: number
  /** Was told to close. */
  readonly closing: boolean
}

export interface Dial {
  readonly attempt: number
  readonly since: number
  readonly purposes: readonly Purpose[]
  readonly addresses: readonly string[]
}

/** Looking for a connection that nobody waits for. */
export interface Search {
  readonly kind: PeerKind
  readonly failures: number
  /** The time of the next dial. */
  readonly due: number
  /** The last dial; undefined: none yet, so it is a newcomer. */
  readonly triedAt: number | undefined
  /** When a relay may be dialled in this try; undefined: there is none, or it was tried. */
  readonly relayFrom: number | undefined
  /** Only a relay leads there: waits for a place, or for a new direct address. */
  readonly needsRelay: boolean
}

/** One of the two ways of a demand or an upgrade. */
export type Progress = 'wanted' | 'running' | 'failed'

/** Somebody waits for a connection. */
export interface Demand {
  readonly tries: number
  readonly since: number
  readonly direct: Progress
  readonly relay: Progress
  /** When the relay is dialled, unless the direct dial fails before. */
  readonly relayFrom: number
  /** How often new addresses made a way that had failed be tried again. */
  readonly news: number
  /** When both failed and it is tried once more. */
  readonly retryAt: number | undefined
}

/** Making a relayed connection direct. */
export interface Upgrade {
  readonly tries: number
  readonly due: number
  /** Undefined while it waits for its time and its place. */
  readonly running: { readonly direct: Progress; readonly webrtc: Progress } | undefined
}

/** Connected over relays alone. */
interface Relayed {
  readonly since: number
  /** Did not become direct in its time. */
  readonly failed: boolean
}

export interface PeerState {
  readonly peer: string
  /** This node's id is the smaller one. */
  readonly dialsFirst: boolean
  /** The state of a small generator, for draws. */
  readonly seed: number
  /** 0 to 1: peers of equal rank that wait for a place are not taken by all nodes in the same order. */
  readonly lot: number
  /** The addresses, newest first. */
  readonly addresses: readonly PeerAddress[]
  /** The ways of discovery that named it. */
  readonly sources: readonly string[]
  /** Whence it was told of, as `addressGroupOf` gives it, and where it was connected from; newest last. */
  readonly tellers: readonly string[]
  readonly configured: boolean
  /** The peer dialled this node before this node dialled the peer. */
  readonly incoming: boolean
  readonly search: Search | undefined
  readonly demand: Demand | undefined
  /** When somebody last asked for it. */
  readonly askedAt: number | undefined
  readonly dials: { readonly [route in Route]?: Dial }
  /** Attempts of all routes. */
  readonly attempts: number
  readonly connections: readonly PeerConnection[]
  /** Connections in a row that closed soon after they had opened. */
  readonly briefs: number
  readonly relayed: Relayed | undefined
  /** After a relayed connection that did not become direct. */
  readonly rest: { readonly until: number; readonly times: number }
  readonly upgrade: Upgrade | undefined
  /** When relayed connections beside a direct one close. */
  readonly retireAt: number | undefined
  /** The peer's service to this node as a relay. */
  readonly relay: RelayOffer
  /** Why the last try failed, for people. */
  readonly lastError: string | undefined
}

interface RelayOffer {
  /** Relays for members, and this node dialled it; undefined: not so. */
  readonly offeredSince: number | undefined
  readonly refusedAt: number | undefined
  readonly reserving: boolean
}

export type PeerInput =
  | {
      readonly type: 'found'
      readonly kind: PeerKind
      readonly addresses: readonly PeerAddress[]
      /** The way of discovery. */
      readonly source?: string
      /** Whence it was told, as `addressGroupOf` gives it. */
      readonly from?: string
    }
  /** Somebody waits for a connection. */
  | { readonly type: 'demand' }
  /** All open connections of now, after one opened or closed or when streams are looked at again. */
  | {
      readonly type: 'connections'
      readonly connections: readonly SeenConnection[]
      /** When the last one closed: where to look for a peer that is missed. */
      readonly missedAt?: readonly PeerAddress[]
      /** The address of the one that opened, as `addressGroupOf` gives it. */
      readonly from?: string
    }
  | {
      readonly type: 'granted'
      readonly grant: Grant
      /** The addresses that this node can dial now. */
      readonly usable: readonly PeerAddress[]
    }
  | {
      readonly type: 'dialled'
      readonly route: Route
      readonly attempt: number
      /** The failure in words; undefined when the dial succeeded. */
      readonly error?: string
    }
  /** Became a member, or ceased to prove it. */
  | { readonly type: 'membership'; readonly proven: boolean }
  | { readonly type: 'relayOffer'; readonly offered: boolean }
  | { readonly type: 'reserved'; readonly ok: boolean }
  | { readonly type: 'tick' }

/** The things that the plan lets a peer do. */
export type Grant =
  | { readonly kind: 'dial'; readonly purpose: 'search' | 'demand' }
  | { readonly kind: 'dialOver'; readonly purpose: 'search' | 'demand' }
  | { readonly kind: 'upgrade' }
  | { readonly kind: 'reserve' }
  /** Its relayed connection makes room for another peer's. */
  | { readonly kind: 'makeRoom' }
  /** A stranger makes room for members. */
  | { readonly kind: 'prune'; readonly connection: string }

export type PeerEffect =
  | {
      readonly type: 'dial'
      readonly route: 'direct' | 'relay'
      readonly attempt: number
      readonly addresses: readonly PeerAddress[]
    }
  /** WebRTC, signalled over the relay at `relayAt`. */
  | { readonly type: 'dialWebRtc'; readonly attempt: number; readonly relayAt: string }
  | { readonly type: 'abandon'; readonly route: Route; readonly attempt: number }
  | { readonly type: 'close'; readonly connection: string; readonly why: string }
  /** As `close`, without waiting for what is under way. */
  | { readonly type: 'abort'; readonly connection: string; readonly why: string }
  | { readonly type: 'reserve' }
  /** Marks the peer as worth more than a stranger; `ttlMs` undefined: until told otherwise. */
  | { readonly type: 'protect'; readonly ttlMs: number | undefined }
  /** The demand is over: connected, or not. */
  | { readonly type: 'answer'; readonly connected: boolean }
  /** A dial of a search failed. */
  | { readonly type: 'searchFailed'; readonly failures: number; readonly error: string }
  | { readonly type: 'upgradeFailed'; readonly error: string }
  /** For the pace of speculative relayed connections. */
  | { readonly type: 'relayedOutcome'; readonly direct: boolean }

export interface Stepped {
  readonly state: PeerState
  readonly effects: readonly PeerEffect[]
}

export function createPeerState(init: {
  readonly peer: string
  readonly self: string
  readonly seed: number
}): PeerState {
  const { peer, self, seed } = init
  const first = draw(seed)
  return {
    peer,
    dialsFirst: self < peer,
    seed: first.seed,
    lot: first.float,
    addresses: [],
    sources: [],
    tellers: [],
    configured: false,
    incoming: false,
    search: undefined,
    demand: undefined,
    askedAt: undefined,
    dials: {},
    attempts: 0,
    connections: [],
    briefs: 0,
    relayed: undefined,
    rest: { until: Number.NEGATIVE_INFINITY, times: 0 },
    upgrade: undefined,
    retireAt: undefined,
    relay: { offeredSince: undefined, refusedAt: undefined, reserving: false },
    lastError: undefined,
  }
}

/** One draw of mulberry32: a number from 0 to 1, and the seed of the next. */
export function draw(seed: number): { readonly float: number; readonly seed: number } {
  const state = (seed + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return { float: ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32, seed: state }
}

/** The connections that stand and were not told to close. */
export const openOf = ({ connections }: PeerState) => connections.filter(({ closing }) => !closing)

export const isConnected = ({ connections }: PeerState) => connections.some(({ closing }) => !closing)

export const isDirect = ({ connections }: PeerState) =>
  connections.some(({ direct, closing }) => direct && !closing)

/** Somebody wants a connection to the peer, or did lately; what a person configured always counts. */
export const isAskedFor = ({ askedAt, configured }: PeerState, now: number) =>
  configured || (askedAt !== undefined && askedAt > now - ASKED_FOR_MS)

/** A search has a dial under way. */
export const isSearching = ({ dials }: PeerState) =>
  [dials.direct, dials.relay].some((dial) => dial?.purposes.includes('search') === true)

/** Dials a relay, or waits for one, without anybody having asked: holds a place. */
export const holdsSpeculativeDial = ({ dials, configured }: PeerState) =>
  !configured && dials.relay !== undefined && !dials.relay.purposes.includes('demand')

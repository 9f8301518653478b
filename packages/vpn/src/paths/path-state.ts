/** The knowledge of the ways to one peer over UDP, and the inputs and effects of its state machine (`step.ts`). */
import type { Endpoint } from '@mesh/engine'
import { ALTERNATIVES_MS, LEAST_PATH_MTU, ROUNDS_MS } from './limits.ts'
import type { Candidate, CandidateKind } from '../wire/control-message.ts'

/** The port of a further socket of the engine; undefined: its own one. */
export type LocalSocket = number | undefined

/**
 * The socket that packets leave by from now on. Each socket has a greater epoch than those before. Both ends prefer the greatest
 * epoch, whose mapping at a forgetful NAT is the youngest.
 */
export interface SocketEpoch {
  readonly socket: LocalSocket
  readonly epoch: number
}

interface SentProbe {
  readonly nonce: bigint
  readonly at: number
  readonly length: number
}

/** A probe from another port than that of the path in use, and what was known of that path before. */
interface OtherPort {
  readonly nonce: bigint
  readonly lost: number
  readonly wasSuspect: boolean
}

/** One address of the peer, as one of this node's sockets reaches it. Times are in ms of a monotonic clock. */
export interface Path {
  /** The endpoint and the socket as text. */
  readonly key: string
  readonly endpoint: Endpoint
  readonly socket: LocalSocket
  /** The epoch of this node's socket, and the greatest that the peer's probes on this path had of the peer's. */
  ownEpoch: number
  theirEpoch: number
  kind: CandidateKind
  /** Probes without an answer so far, in the order in which they were sent. */
  sent: SentProbe[]
  /** The smoothed round trip, in ms. */
  rttMs: number | undefined
  answeredAt: number | undefined
  heardAt: number | undefined
  /** Lost probes in a row. */
  lost: number
  /** When a probe was first found lost since the last answer. */
  silentSince: number | undefined
  /** The latest probes that were taken for lost, by their nonces. */
  givenUp: readonly bigint[]
  /** When one of those was answered after all: too late. */
  lateAt: number | undefined
  /** The longest packet that was proven to pass; 0: none so far. */
  mtu: number
  /** The packet length that is tried now, and how often its probe was lost. */
  tries: { readonly mtu: number; readonly lost: number } | undefined
  /** When packets longer than `mtu` are tried next, while it is in use, and the wait after that, in ms. */
  raiseAt: number
  raiseWaitMs: number
  /** A NAT is on the way, or may be: it forgets the path when nothing passes. */
  isThroughNat: boolean
  /** The number of probes in a row in which it was better than the path in use. */
  better: number
}

export interface PathState {
  /** The longest packet that both interfaces take. */
  readonly wantedMtu: number
  /** The length of packets that a path must take to be used: what IPv6 needs, or the longest where that is less. */
  readonly leastMtu: number
  /** When both ends met. */
  readonly metAt: number
  /** The socket that new paths leave by. */
  current: SocketEpoch
  /** The engine's own socket, while another is in use, is probed next: to see how long the NAT keeps its mapping. */
  measureAt: number
  readonly paths: Map<string, Path>
  chosen: Path | undefined
  /** The path in use has lost probes: packets go by the stream too. */
  isSuspect: boolean
  /** The latest probes from another port of the peer's address: its NAT has another mapping, or somebody sent them again. */
  otherPorts: readonly OtherPort[]
  /** When that was somebody who overheard one: it came from the path in use, too. */
  copiedAt: number
  /** When the path in use died last: what was heard before says nothing any more of why there is none. */
  lostAt: number
  /** The path in use was let go, as nobody needed it, and none was looked for since. */
  isLetGo: boolean
  /** When paths in use broke, the latest ones, oldest first. */
  brokeAt: readonly number[]
  /** The next break is expected about now: packets go by the stream too. */
  isBreakNear: boolean
  /** When the search began whose rounds are sent. */
  searchAt: number
  /** When a search last sent its last round and had found nothing. */
  searchedAt: number
  /** The next of its rounds. */
  round: number
  /** The last time when packets passed. */
  activeAt: number
  /** A path is probed as one in use before packets have passed; one through a NAT always is. */
  isWatched: boolean
  /** The path in use is probed next. */
  probeAt: number
  /** The other addresses are probed next. */
  alternativesAt: number
  /** It is not let go when packets stop. */
  isKept: boolean
  /** Draws the nonce of a probe, which nobody else may guess: an answer that bears it shows that the address got the probe. */
  readonly drawNonce: () => bigint
  /** When searches began that the peer's messages asked for. */
  toldAt: number[]
}

export function createPathState(
  {
    wantedMtu,
    current,
    drawNonce,
    isWatched,
  }: Pick<PathState, 'wantedMtu' | 'current' | 'drawNonce' | 'isWatched'>,
  now: number,
): PathState {
  return {
    wantedMtu,
    leastMtu: Math.min(LEAST_PATH_MTU, wantedMtu),
    metAt: now,
    current,
    measureAt: now,
    paths: new Map(),
    chosen: undefined,
    isSuspect: false,
    otherPorts: [],
    copiedAt: Number.NEGATIVE_INFINITY,
    lostAt: Number.NEGATIVE_INFINITY,
    isLetGo: false,
    brokeAt: [],
    isBreakNear: false,
    searchAt: now,
    searchedAt: Number.NEGATIVE_INFINITY,
    round: ROUNDS_MS.length,
    activeAt: now,
    isWatched,
    probeAt: now,
    alternativesAt: now + ALTERNATIVES_MS,
    isKept: false,
    drawNonce,
    toldAt: [],
  }
}

export type PathInput =
  /** The peer told its addresses. */
  | { readonly type: 'candidates'; readonly candidates: readonly Candidate[] }
  /** This node's own addresses changed. */
  | { readonly type: 'moved' }
  /** Packets passed. */
  | { readonly type: 'active' }
  /** A probe of the peer came. */
  | {
      readonly type: 'ping'
      readonly from: Endpoint
      /** The socket that it came to. */
      readonly socket: LocalSocket
      readonly nonce: bigint
      readonly length: number
      /** The epoch of the peer's socket. */
      readonly epoch: number
    }
  /** An answer came. */
  | {
      readonly type: 'pong'
      readonly from: Endpoint
      readonly socket: LocalSocket
      readonly nonce: bigint
      /** The peer saw the probe come from an address of this machine's own. */
      readonly isSeenAsOwn: boolean
    }
  /** How others see this node's socket is to be known now: the path in use is probed. */
  | { readonly type: 'measure' }
  /** Somebody wants to know how the peer is reached now: each of its addresses is probed. */
  | { readonly type: 'try' }
  /** This node's NAT has another mapping for the socket than before. */
  | { readonly type: 'remapped'; readonly socket: LocalSocket }
  /** Packets are to leave by another socket. */
  | { readonly type: 'socket'; readonly current: SocketEpoch }
  /** A socket was closed, which is not the one that packets are to leave by. */
  | { readonly type: 'closed'; readonly socket: LocalSocket }
  /** A probe could not be sent. */
  | { readonly type: 'unsent'; readonly nonce: bigint }
  | { readonly type: 'tick' }

/** The way that packets take to the peer, beside the stream. */
export interface UdpPath {
  readonly endpoint: Endpoint
  readonly socket: LocalSocket
  readonly alsoStream: boolean
  readonly mtu: number
}

export type PathEffect =
  | {
      readonly type: 'ping'
      readonly to: Endpoint
      readonly by: SocketEpoch
      readonly nonce: bigint
      readonly length: number
      /** The address has answered before: it is the peer's own. */
      readonly isProven: boolean
    }
  | {
      readonly type: 'pong'
      readonly to: Endpoint
      readonly socket: LocalSocket
      readonly nonce: bigint
      readonly length: number
      /** True as for a ping: who forges where its probes come from has them answered to a stranger. */
      readonly isProven: boolean
    }
  /** From now on packets go so; undefined: by the stream alone. */
  | { readonly type: 'use'; readonly path: UdpPath | undefined }

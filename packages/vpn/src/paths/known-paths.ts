/** Keeps what is known of the addresses at which a peer may be. Pure. */
import { type Endpoint, endpointText } from '@mesh/engine'
import {
  ACTIVE_MS,
  ALTERNATIVES_MS,
  HEARD_MS,
  IDLE_MS,
  LEAST_RAISE_MS,
  MAX_PATHS,
  YOUNGER_MS,
} from './limits.ts'
import type { LocalSocket, Path, PathState } from './path-state.ts'
import type { CandidateKind } from '../wire/control-message.ts'

/** An address of the peer, and which socket of this node reaches it. */
export interface PathEnds {
  readonly endpoint: Endpoint
  readonly socket: LocalSocket
}

export function pathKey({ endpoint, socket }: PathEnds): string {
  return socket === undefined ? endpointText(endpoint) : `${endpointText(endpoint)} by ${socket}`
}

/** The path between the two ends, a new one where it is not known; undefined: too many are known. */
export function pathTo(state: PathState, ends: PathEnds, kind: CandidateKind): Path | undefined {
  const key = pathKey(ends)
  const known = state.paths.get(key)
  if (known !== undefined) return known
  if (state.paths.size >= MAX_PATHS && !makeRoom(state)) return undefined
  const { socket, epoch } = state.current
  const path: Path = {
    ...ends,
    key,
    ownEpoch: ends.socket === socket ? epoch : 0,
    theirEpoch: 0,
    kind,
    sent: [],
    rttMs: undefined,
    answeredAt: undefined,
    heardAt: undefined,
    lost: 0,
    silentSince: undefined,
    givenUp: [],
    lateAt: undefined,
    mtu: 0,
    tries: undefined,
    raiseAt: Number.POSITIVE_INFINITY,
    raiseWaitMs: LEAST_RAISE_MS,
    isThroughNat: true,
    better: 0,
  }
  state.paths.set(key, path)
  return path
}

/** A probe of ours was answered and one of theirs heard; how long packets may be is another question. */
export function isProven(path: Path, now: number): boolean {
  return path.answeredAt !== undefined && isHeardLately(path, now)
}

/** A probe of the peer came a short while ago. */
export function isHeardLately({ heardAt }: Path, now: number): boolean {
  return heardAt !== undefined && now - heardAt <= HEARD_MS
}

/** How late its sockets were opened: the mappings of a NAT that forgets them are the younger, the later. */
export function epochOf({ ownEpoch, theirEpoch }: Path): number {
  return ownEpoch + theirEpoch
}

/** How often other paths than the one in use are probed, in ms: a younger mapping that lost a probe is soon tried again. */
export function alternativesMs({ paths, chosen }: PathState): number {
  const isYounger = (path: Path) =>
    chosen !== undefined && epochOf(path) > epochOf(chosen) && path.rttMs !== undefined
  return [...paths.values()].some(isYounger) ? YOUNGER_MS : ALTERNATIVES_MS
}

/** Packets passed a short while ago. */
export function isActive({ activeAt }: PathState, now: number): boolean {
  return now - activeAt <= ACTIVE_MS
}

/** Nobody needs a path. */
export function isIdle({ isKept, activeAt }: PathState, now: number): boolean {
  return !isKept && now - activeAt > IDLE_MS
}

/**
 * Removes the address that answered longest ago, never the one in use. Addresses that only were heard go first: an observer
 * can replay a peer's probes from anywhere.
 */
function makeRoom(state: PathState): boolean {
  const others = [...state.paths.values()].filter((path) => path !== state.chosen)
  const rank = ({ answeredAt, kind }: Path) => answeredAt ?? (kind === 'heard' ? -2 : -1)
  const [oldest] = others.sort((one, other) => rank(one) - rank(other))
  return oldest !== undefined && state.paths.delete(oldest.key)
}

import { ALTERNATIVES_MS, LEAST_PATH_MTU, ROUNDS_MS } from './limits.ts'
import type { PathState, SocketTurn } from './path-state.ts'

interface PathStateInit {
  /** The longest packet that both interfaces take, in bytes. */
  readonly wantedMtu: number
  /** The socket that packets are to leave by. */
  readonly current: SocketTurn
  readonly drawNonce: PathState['drawNonce']
  /** A path is probed as one in use before packets have passed. */
  readonly isWatched: boolean
}

export function createPathState(
  { wantedMtu, current, drawNonce, isWatched }: PathStateInit,
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

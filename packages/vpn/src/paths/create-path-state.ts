import { ALTERNATIVES_MS, ROUNDS_MS } from './limits.ts'
import type { PathState } from './path-state.ts'

/** @param wantedMtu the longest packet that both interfaces take, in bytes */
export function createPathState(wantedMtu: number, now: number): PathState {
  return {
    wantedMtu,
    paths: new Map(),
    chosen: undefined,
    isSuspect: false,
    lostAt: Number.NEGATIVE_INFINITY,
    brokeAt: [],
    isBreakNear: false,
    searchAt: now,
    searchedAt: Number.NEGATIVE_INFINITY,
    round: ROUNDS_MS.length,
    activeAt: now,
    probeAt: now,
    alternativesAt: now + ALTERNATIVES_MS,
    isKept: false,
    nonce: 0,
    toldAt: [],
  }
}

/** Which addresses are probed now, with probes of which length. Pure. */
import { alternativesMs, isActive, isProven } from './known-paths.ts'
import {
  KEEPALIVE_MS,
  LATELY_LOST_MS,
  LATELY_MET_MS,
  MEASURE_MS,
  MOST_RAISE_MS,
  PROBE_EVERY_MS,
  ROUNDS_MS,
  SEAL_BYTES,
  SEARCH_AGAIN_MS,
  SEARCH_LOST_MS,
  SUSPECT_PROBE_MS,
} from './limits.ts'
import type { Path, PathEffect, PathState } from './path-state.ts'
import { LEAST_PING_BYTES } from './probe-message.ts'

/** Probes that may be on their way to one address. */
const MAX_UNANSWERED = 6

/** Sends what is due. */
export function probe(state: PathState, now: number, effects: PathEffect[]): void {
  const { chosen } = state
  if (chosen === undefined && state.round >= ROUNDS_MS.length) {
    if (isActive(state, now) && now >= searchAgainAt(state)) search(state, now)
  }
  let isRound = false
  while (state.round < ROUNDS_MS.length && now >= state.searchAt + (ROUNDS_MS[state.round] ?? 0)) {
    state.round++
    isRound = true
    if (state.round === ROUNDS_MS.length) state.searchedAt = now
  }
  const isAlternatives =
    chosen !== undefined && now >= state.alternativesAt && (isActive(state, now) || state.isSuspect)
  if (isAlternatives) state.alternativesAt = now + alternativesMs(state)
  for (const path of state.paths.values()) {
    if (path === chosen) continue
    if (isRound || isAlternatives || isMeasured(state, path, now)) ping(state, path, { now, effects })
    else if (wantsMtu(state, path, now)) ping(state, path, { now, effects })
  }
  if (now >= state.measureAt) state.measureAt = now + MEASURE_MS
  if (chosen !== undefined) raise(state, chosen, { now, effects })
  if (chosen !== undefined && now >= state.probeAt) {
    ping(state, chosen, { now, effects })
    state.probeAt = now + (state.isSuspect ? SUSPECT_PROBE_MS : everyMs(state, chosen, now))
  } else if (chosen !== undefined && state.isSuspect) {
    state.probeAt = Math.min(state.probeAt, now + SUSPECT_PROBE_MS)
  }
}

/** When a search that found nothing is repeated, while packets pass. */
export function searchAgainAt({ searchAt, lostAt, metAt }: PathState): number {
  const isSoon = searchAt - lostAt < LATELY_LOST_MS || searchAt - metAt < LATELY_MET_MS
  return searchAt + (isSoon ? SEARCH_LOST_MS : SEARCH_AGAIN_MS)
}

/** Begins the rounds of probes to all addresses. */
export function search(state: PathState, now: number): void {
  state.searchAt = now
  state.round = 0
  state.isLetGo = false
  for (const path of state.paths.values()) if (path.tries?.mtu === 0) path.tries = undefined
}

/** When longer packets are tried on the path in use, which may have grown. */
export function raiseAt(state: PathState, { mtu, tries, raiseAt: at }: Path, now: number): number {
  const isWanted = mtu < state.wantedMtu && tries === undefined && !state.isSuspect && isActive(state, now)
  return isWanted ? at : Number.POSITIVE_INFINITY
}

/** Tries whether packets longer than those that passed pass now. */
function raise(state: PathState, path: Path, { now, effects }: Sending): void {
  if (now >= raiseAt(state, path, now)) {
    path.tries = { mtu: state.wantedMtu, lost: 0 }
    path.raiseAt = now + path.raiseWaitMs
    path.raiseWaitMs = Math.min(MOST_RAISE_MS, 2 * path.raiseWaitMs)
  }
  if (path.tries === undefined || path.tries.mtu <= path.mtu) return
  const length = path.tries.mtu + SEAL_BYTES
  if (!path.sent.some((sent) => sent.length === length)) ping(state, path, { now, effects, length })
}

interface Sending {
  readonly now: number
  readonly effects: PathEffect[]
}

/** Probes one address, unless too many probes wait there for an answer. */
export function ping(
  state: PathState,
  path: Path,
  { now, effects, length = probeLength(state, path, now) }: Sending & { readonly length?: number },
): void {
  if (path.sent.length >= MAX_UNANSWERED) return
  const nonce = state.drawNonce()
  path.sent.push({ nonce, at: now, length })
  const by = { socket: path.socket, epoch: path.ownEpoch }
  const hasAnswered = path.answeredAt !== undefined
  effects.push({ type: 'ping', to: path.endpoint, by, nonce, length, isProven: hasAnswered })
}

/** Makes probes as long as the longest packet, once it is known that anything passes. */
function probeLength(state: PathState, path: Path, now: number): number {
  if (!isProven(path, now)) return LEAST_PING_BYTES
  if (path.mtu >= state.leastMtu) return path.mtu + SEAL_BYTES
  path.tries ??= { mtu: state.wantedMtu, lost: 0 }
  return path.tries.mtu === 0 ? LEAST_PING_BYTES : path.tries.mtu + SEAL_BYTES
}

/** How often the path in use is probed; without packets and without a NAT, that would forget it, not at all. */
function everyMs(state: PathState, chosen: Path, now: number): number {
  if (isActive(state, now)) return PROBE_EVERY_MS
  return chosen.isThroughNat ? KEEPALIVE_MS : Number.POSITIVE_INFINITY
}

/**
 * True while the engine's own socket rests: its mapping shows how long the NAT keeps one. Only for a peer whose path is
 * kept, as one or two tell enough.
 */
export function isMeasuring({ current, chosen, isKept }: PathState): boolean {
  return current.socket !== undefined && chosen !== undefined && isKept
}

function isMeasured(state: PathState, path: Path, now: number): boolean {
  return (
    isMeasuring(state) && path.socket === undefined && path.answeredAt !== undefined && now >= state.measureAt
  )
}

/** It is proven, and the longest packet's length is not. */
function wantsMtu(state: PathState, path: Path, now: number): boolean {
  return isProven(path, now) && path.mtu < state.leastMtu && path.tries?.mtu !== 0 && path.sent.length === 0
}

/**
 * The state machine of the ways to one peer over UDP. Pure but for the state it is given: numbers in, effects out.
 *
 * No path (the stream carries) -> probing -> direct -> suspect (both carry) -> direct, or back to the stream. A path is
 * good when a probe of ours was answered on it, one of theirs was heard on it, and a probe as long as the longest packet
 * was answered.
 */
import { type Endpoint, endpointText } from '@mesh/engine'
import {
  ACTIVE_MS,
  ALTERNATIVES_MS,
  BETTER_MS,
  BETTER_PART,
  BETTER_PROBES,
  HEARD_MS,
  IDLE_MS,
  KEEPALIVE_MS,
  LEAST_ANSWER_MS,
  LEAST_BETTER_MS,
  LEAST_PATH_MTU,
  LOST_PROBES,
  MAX_PATHS,
  MOST_ANSWER_MS,
  MTU_TRIES,
  PATH_MTUS,
  PROBE_EVERY_MS,
  PROOF_MS,
  ROUNDS_MS,
  SEAL_BYTES,
  SEARCH_AGAIN_MS,
  SUSPECT_PROBE_MS,
  TOLD_SEARCHES_PER_MINUTE,
} from './limits.ts'
import type {
  Candidate,
  CandidateKind,
  Path,
  PathEffect,
  PathInput,
  PathState,
  UdpPath,
} from './path-state.ts'
import { LEAST_PING_BYTES } from './probe-message.ts'

/** Probes that may be on their way to one address. */
const MAX_UNANSWERED = 6
/** How a candidate ranks where round trips are alike. */
const RANKS: Readonly<Record<CandidateKind, number>> = { own: 0, seen: 1, heard: 2 }

/** @param wantedMtu the longest packet that both interfaces take, in bytes */
export function createPathState(wantedMtu: number, now: number): PathState {
  return {
    wantedMtu,
    paths: new Map(),
    chosen: undefined,
    isSuspect: false,
    searchAt: now,
    round: ROUNDS_MS.length,
    activeAt: now,
    probeAt: now,
    alternativesAt: now + ALTERNATIVES_MS,
    isKept: false,
    nonce: 0,
    toldAt: [],
  }
}

/** Takes one input; the state changes, and what has to be done is returned in its order. */
export function step(state: PathState, input: PathInput, now: number): readonly PathEffect[] {
  const effects: PathEffect[] = []
  const before = usedPath(state)
  take(state, input, now, effects)
  expire(state, now)
  choose(state, now)
  probe(state, now, effects)
  const after = usedPath(state)
  if (!isSameUse(before, after)) effects.push({ type: 'use', path: after })
  return effects
}

/** When the machine wants its next tick. */
export function wakeAt(state: PathState, now: number): number {
  const { chosen } = state
  let at = chosen === undefined ? Number.POSITIVE_INFINITY : Math.min(state.probeAt, state.alternativesAt)
  if (state.round < ROUNDS_MS.length) at = Math.min(at, state.searchAt + (ROUNDS_MS[state.round] ?? 0))
  else if (chosen === undefined && isActive(state, now)) at = Math.min(at, state.searchAt + SEARCH_AGAIN_MS)
  for (const path of state.paths.values()) {
    for (const sent of path.sent) at = Math.min(at, sent.at + answerMs(path))
  }
  // a sum that was rounded down must not make it wake at the same time for ever
  return Math.max(at, now + 1)
}

/** The way that packets take now; undefined: the stream alone. */
export function usedPath({ chosen, isSuspect }: PathState): UdpPath | undefined {
  return chosen && { endpoint: chosen.endpoint, alsoStream: isSuspect, mtu: chosen.mtu }
}

/** A probe of ours was answered and one of theirs heard; how long packets may be is another question. */
function isProven({ answeredAt, heardAt }: Path, now: number): boolean {
  return answeredAt !== undefined && heardAt !== undefined && now - heardAt <= HEARD_MS
}

function take(state: PathState, input: PathInput, now: number, effects: PathEffect[]): void {
  switch (input.type) {
    case 'candidates':
      return takeCandidates(state, input.candidates, now)
    case 'moved':
      return search(state, now)
    case 'active':
      if (state.chosen === undefined && !isActive(state, now)) search(state, now)
      if (state.chosen !== undefined && !isActive(state, now)) state.probeAt = now
      state.activeAt = now
      return
    case 'ping':
      return takePing(state, input, now, effects)
    case 'pong':
      return takePong(state, input, now)
    case 'unsent':
      for (const path of state.paths.values()) lose(state, path, ({ nonce }) => nonce === input.nonce)
      return
    case 'keep':
      state.isKept = input.isKept
      return
    case 'tick':
      return
  }
}

/** Takes the peer's addresses in place of those it told before; those that its probes come from stay. */
function takeCandidates(state: PathState, candidates: readonly Candidate[], now: number): void {
  const told = new Map(candidates.map((each) => [endpointText(each.endpoint), each]))
  let isNew = false
  for (const [key, path] of state.paths) {
    const stays = told.has(key) || path.kind === 'heard' || path === state.chosen || isProven(path, now)
    if (!stays) state.paths.delete(key)
  }
  for (const { endpoint, kind } of told.values()) {
    isNew ||= !state.paths.has(endpointText(endpoint))
    const path = pathTo(state, endpoint, kind)
    if (path !== undefined) path.kind = kind
  }
  state.toldAt = state.toldAt.filter((at) => now - at < 60_000)
  if (!isNew && state.chosen !== undefined) return
  if (state.toldAt.length >= TOLD_SEARCHES_PER_MINUTE) return
  state.toldAt.push(now)
  search(state, now)
}

function takePing(
  state: PathState,
  { from, nonce, length }: { readonly from: Endpoint; readonly nonce: number; readonly length: number },
  now: number,
  effects: PathEffect[],
): void {
  effects.push({ type: 'pong', to: from, nonce, length })
  const path = pathTo(state, from, 'heard')
  if (path === undefined) return
  path.heardAt = now
  // the hole is open now from there: it may be from here too
  const wasAsked = path.sent.some(({ at }) => now - at < 100)
  const isKnown = path.answeredAt !== undefined && now - path.answeredAt < ALTERNATIVES_MS
  if (!wasAsked && !isKnown && path !== state.chosen) ping(state, path, { now, effects })
}

function takePong(
  state: PathState,
  { from, nonce }: { readonly from: Endpoint; readonly nonce: number },
  now: number,
): void {
  const path = state.paths.get(endpointText(from))
  const sent = path?.sent.find((each) => each.nonce === nonce)
  if (path === undefined || sent === undefined) return
  // those before it were overtaken or lost; one answer shows that the path works
  path.sent = path.sent.filter((each) => each.nonce > nonce)
  const rttMs = now - sent.at
  path.rttMs = path.rttMs === undefined ? rttMs : path.rttMs + (rttMs - path.rttMs) / 4
  path.answeredAt = now
  path.lost = 0
  path.mtu = Math.max(path.mtu, Math.min(sent.length - SEAL_BYTES, state.wantedMtu))
  if (sent.length > LEAST_PING_BYTES) path.tries = undefined
  if (path === state.chosen) state.isSuspect = false
  else if (state.chosen !== undefined && sent.length > LEAST_PING_BYTES) {
    compare(state.chosen, path)
    if (path.better > 0) state.alternativesAt = Math.min(state.alternativesAt, now + PROBE_EVERY_MS)
  }
}

/** Counts in how many probes in a row a path was clearly better than the one in use. */
function compare(chosen: Path, path: Path): void {
  const [own, other] = [chosen.rttMs ?? 0, path.rttMs ?? Number.POSITIVE_INFINITY]
  const gain = own - other
  const isBetter = gain >= BETTER_MS || (gain >= LEAST_BETTER_MS && gain >= own * BETTER_PART)
  path.better = isBetter ? path.better + 1 : 0
}

/** Takes probes for lost whose answer did not come in time. */
function expire(state: PathState, now: number): void {
  for (const path of state.paths.values()) {
    const waitMs = answerMs(path)
    lose(state, path, ({ at }) => now - at >= waitMs)
  }
  const { chosen } = state
  if (chosen !== undefined && chosen.lost >= LOST_PROBES) {
    forsake(state, chosen)
    search(state, now)
  } else if (chosen !== undefined && isIdle(state, now)) {
    forsake(state, chosen)
  }
}

/** The path has to be proven again, its MTU too. */
function forsake(state: PathState, path: Path): void {
  path.answeredAt = path.rttMs = path.tries = undefined
  path.mtu = path.lost = path.better = 0
  if (path === state.chosen) {
    path.heardAt = undefined
    state.chosen = undefined
    state.isSuspect = false
  }
}

function lose(state: PathState, path: Path, isLost: (sent: Path['sent'][number]) => boolean): void {
  const lost = path.sent.filter(isLost)
  if (lost.length === 0) return
  path.sent = path.sent.filter((sent) => !lost.includes(sent))
  path.better = 0
  for (const { length } of lost) {
    const { tries } = path
    if (tries !== undefined && length === tries.mtu + SEAL_BYTES) path.tries = nextTry(tries)
    else path.lost++
  }
  if (path === state.chosen) {
    if (!state.isSuspect) state.alternativesAt = state.probeAt = Number.NEGATIVE_INFINITY
    state.isSuspect = true
  } else if (path.lost >= LOST_PROBES) forsake(state, path)
}

function nextTry(tries: { readonly mtu: number; readonly lost: number }): Path['tries'] {
  if (tries.lost + 1 < MTU_TRIES) return { mtu: tries.mtu, lost: tries.lost + 1 }
  const mtu = PATH_MTUS.find((each) => each < tries.mtu)
  // nothing shorter is of use: the next search may find another way
  return mtu === undefined ? { mtu: 0, lost: 0 } : { mtu, lost: 0 }
}

function choose(state: PathState, now: number): void {
  if (isIdle(state, now)) return
  const usable = [...state.paths.values()].filter((path) => isUsable(path, now))
  const { chosen } = state
  if (chosen === undefined || state.isSuspect) {
    // a suspect one is left for one that answers
    const best = usable.filter((path) => path !== chosen).sort(byPreference)[0]
    if (best !== undefined) use(state, best, now)
    return
  }
  const better = usable
    .filter((path) => path !== chosen && path.better >= BETTER_PROBES)
    .sort(byPreference)[0]
  if (better !== undefined) use(state, better, now)
}

function use(state: PathState, path: Path, now: number): void {
  for (const each of state.paths.values()) each.better = 0
  state.chosen = path
  state.isSuspect = false
  state.round = ROUNDS_MS.length
  state.probeAt = now
  state.alternativesAt = now + ALTERNATIVES_MS
}

function isUsable(path: Path, now: number): boolean {
  return (
    isProven(path, now) &&
    path.lost === 0 &&
    path.mtu >= LEAST_PATH_MTU &&
    path.answeredAt !== undefined &&
    now - path.answeredAt <= PROOF_MS
  )
}

/** Sorts by round trip; where that is alike, by the nearer kind, then IPv6 first. */
function byPreference(one: Path, other: Path): number {
  const gain = (one.rttMs ?? 0) - (other.rttMs ?? 0)
  if (Math.abs(gain) >= LEAST_BETTER_MS) return gain
  const rank = RANKS[one.kind] - RANKS[other.kind]
  return rank === 0 ? Number(isV4(one)) - Number(isV4(other)) : rank
}

function isV4({ endpoint }: Path): boolean {
  return !endpoint.address.includes(':')
}

/** Sends what is due. */
function probe(state: PathState, now: number, effects: PathEffect[]): void {
  const { chosen } = state
  if (chosen === undefined && state.round >= ROUNDS_MS.length) {
    if (isActive(state, now) && now >= state.searchAt + SEARCH_AGAIN_MS) search(state, now)
  }
  let isRound = false
  while (state.round < ROUNDS_MS.length && now >= state.searchAt + (ROUNDS_MS[state.round] ?? 0)) {
    state.round++
    isRound = true
  }
  const isAlternatives = chosen !== undefined && now >= state.alternativesAt
  if (isAlternatives) state.alternativesAt = now + ALTERNATIVES_MS
  for (const path of state.paths.values()) {
    if (path === chosen) continue
    if (isRound || isAlternatives) ping(state, path, { now, effects })
    else if (wantsMtu(state, path, now)) ping(state, path, { now, effects })
  }
  if (chosen !== undefined && now >= state.probeAt) {
    ping(state, chosen, { now, effects })
    const everyMs = isActive(state, now) ? PROBE_EVERY_MS : KEEPALIVE_MS
    state.probeAt = now + (state.isSuspect ? SUSPECT_PROBE_MS : everyMs)
  } else if (chosen !== undefined && state.isSuspect) {
    state.probeAt = Math.min(state.probeAt, now + SUSPECT_PROBE_MS)
  }
}

/** It is proven, and the longest packet's length is not. */
function wantsMtu(state: PathState, path: Path, now: number): boolean {
  return isProven(path, now) && path.mtu < LEAST_PATH_MTU && path.tries?.mtu !== 0 && path.sent.length === 0
}

function ping(
  state: PathState,
  path: Path,
  { now, effects }: { readonly now: number; readonly effects: PathEffect[] },
): void {
  if (path.sent.length >= MAX_UNANSWERED) return
  const nonce = ++state.nonce
  const length = probeLength(state, path, now)
  path.sent.push({ nonce, at: now, length })
  effects.push({ type: 'ping', to: path.endpoint, nonce, length })
}

/** Makes probes as long as the longest packet, once it is known that anything passes. */
function probeLength(state: PathState, path: Path, now: number): number {
  if (!isProven(path, now)) return LEAST_PING_BYTES
  if (path.mtu >= LEAST_PATH_MTU) return path.mtu + SEAL_BYTES
  path.tries ??= { mtu: state.wantedMtu, lost: 0 }
  return path.tries.mtu === 0 ? LEAST_PING_BYTES : path.tries.mtu + SEAL_BYTES
}

function search(state: PathState, now: number): void {
  state.searchAt = now
  state.round = 0
  for (const path of state.paths.values()) if (path.tries?.mtu === 0) path.tries = undefined
}

function pathTo(state: PathState, endpoint: Endpoint, kind: CandidateKind): Path | undefined {
  const key = endpointText(endpoint)
  const known = state.paths.get(key)
  if (known !== undefined) return known
  if (state.paths.size >= MAX_PATHS && !makeRoom(state)) return undefined
  const path: Path = {
    key,
    endpoint,
    kind,
    sent: [],
    rttMs: undefined,
    answeredAt: undefined,
    heardAt: undefined,
    lost: 0,
    mtu: 0,
    tries: undefined,
    better: 0,
  }
  state.paths.set(key, path)
  return path
}

/** The address that answered longest ago goes, never the one in use. */
function makeRoom(state: PathState): boolean {
  const others = [...state.paths.values()].filter((path) => path !== state.chosen)
  const [oldest] = others.sort((one, other) => (one.answeredAt ?? 0) - (other.answeredAt ?? 0))
  return oldest !== undefined && state.paths.delete(oldest.key)
}

function answerMs({ rttMs }: Path): number {
  if (rttMs === undefined) return MOST_ANSWER_MS
  return Math.min(MOST_ANSWER_MS, Math.max(LEAST_ANSWER_MS, 3 * rttMs + 200))
}

function isActive({ activeAt }: PathState, now: number): boolean {
  return now - activeAt <= ACTIVE_MS
}

/** Nobody needs a path. */
function isIdle({ isKept, activeAt }: PathState, now: number): boolean {
  return !isKept && now - activeAt > IDLE_MS
}

function isSameUse(one: UdpPath | undefined, other: UdpPath | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.endpoint === other.endpoint && one.alsoStream === other.alsoStream && one.mtu === other.mtu
}

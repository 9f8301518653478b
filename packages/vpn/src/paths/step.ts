/**
 * The state machine of the UDP paths to one peer. Numbers in, effects out; only the given state changes.
 *
 * No path (the stream carries) -> probing -> direct -> suspect (both carry) -> direct, or back to the stream. A path is good
 * when three things happened on it: the peer answered a probe, the peer's probe came, and a probe as long as the longest
 * packet was answered.
 */
import { type Endpoint, endpointText } from '@mesh/engine'
import { choose, compare } from './choose-path.ts'
import { isActive, isProven, pathKey, pathTo } from './known-paths.ts'
import {
  ALTERNATIVES_MS,
  COPIED_MS,
  FRESH_MS,
  IDLE_MS,
  LEAST_RAISE_MS,
  LEFT_PROBES,
  OTHER_PORTS_KEPT,
  PROBE_EVERY_MS,
  ROUNDS_MS,
  SEAL_BYTES,
  TOLD_SEARCHES_PER_MINUTE,
} from './limits.ts'
import { answerMs, expire, leave, lose, suspect } from './lost-probes.ts'
import { takeSocket, takeSocketClosed } from './socket-change.ts'
import { expectedBreak, withBreak } from './periodic-breaks.ts'
import type { Path, PathEffect, PathInput, PathState, UdpPath } from './path-state.ts'
import type { Candidate } from '../wire/control-message.ts'
import { LEAST_PING_BYTES } from './probe-message.ts'
import { isMeasuring, ping, probe, raiseAt, search, searchAgainAt } from './send-probes.ts'

/** Takes one input; the state changes, and what has to be done is returned in its order. */
export function step(state: PathState, input: PathInput, now: number): readonly PathEffect[] {
  const effects: PathEffect[] = []
  const before = usedPath(state)
  take(state, input, now, effects)
  if (input.type === 'tick') expire(state, now)
  leave(state, now)
  choose(state, now)
  expectBreak(state, now)
  probe(state, now, effects)
  const after = usedPath(state)
  if (!isSameUse(before, after)) effects.push({ type: 'use', path: after })
  return effects
}

/** When the machine wants its next tick. */
export function wakeAt(state: PathState, now: number): number {
  const { chosen } = state
  let at = Number.POSITIVE_INFINITY
  if (chosen !== undefined) {
    const isProbing = isActive(state, now) || state.isSuspect
    at = Math.min(state.probeAt, isProbing ? state.alternativesAt : at)
    if (!state.isKept) at = Math.min(at, state.activeAt + IDLE_MS + 1)
    at = Math.min(at, raiseAt(state, chosen, now))
    if (isMeasuring(state)) at = Math.min(at, state.measureAt)
    const next = expectedBreak(state.brokeAt)
    if (next !== undefined) at = Math.min(at, state.isBreakNear ? next.until : next.from)
  }
  if (state.round < ROUNDS_MS.length) at = Math.min(at, state.searchAt + (ROUNDS_MS[state.round] ?? 0))
  else if (chosen === undefined && isActive(state, now)) at = Math.min(at, searchAgainAt(state))
  for (const path of state.paths.values()) {
    for (const sent of path.sent) at = Math.min(at, sent.at + answerMs(path))
  }
  // a sum that was rounded down must not make it wake at the same time for ever
  return Math.max(at, now + 1)
}

/** The way that packets take now; undefined: the stream alone. */
export function usedPath({ chosen, isSuspect, isBreakNear }: PathState): UdpPath | undefined {
  if (chosen === undefined) return undefined
  const { endpoint, socket, mtu } = chosen
  return { endpoint, socket, alsoStream: isSuspect || isBreakNear, mtu }
}

/** Notes whether a NAT is about to forget; a period that did not come true is none. */
function expectBreak(state: PathState, now: number): void {
  const next = expectedBreak(state.brokeAt)
  if (next !== undefined && now >= next.until) state.brokeAt = []
  state.isBreakNear = next !== undefined && now >= next.from && now < next.until
}

function take(state: PathState, input: PathInput, now: number, effects: PathEffect[]): void {
  switch (input.type) {
    case 'candidates':
      return takeCandidates(state, input.candidates, now)
    case 'moved':
      return search(state, now)
    case 'active':
      return takeActivity(state, now)
    case 'ping':
      return takePing(state, input, now, effects)
    case 'pong':
      return takePong(state, input, now)
    case 'unsent':
      for (const path of state.paths.values())
        lose(state, path, { now, isLost: ({ nonce }) => nonce === input.nonce })
      return
    case 'measure':
      if (state.chosen !== undefined) ping(state, state.chosen, { now, effects })
      return
    case 'try':
      return tryAll(state, now, effects)
    case 'remapped':
      if (state.chosen?.socket === input.socket) state.brokeAt = withBreak(state.brokeAt, now)
      return
    case 'socket':
      return takeSocket(state, input.current, now)
    case 'closed':
      return takeSocketClosed(state, input.socket, now)
    case 'tick':
      return
  }
}

/** The first packets after a silence: there is a path to be found, or one to be proven again. */
function takeActivity(state: PathState, now: number): void {
  if (!isActive(state, now)) {
    const { chosen } = state
    if (chosen === undefined) search(state, now)
    else if (now - (chosen.answeredAt ?? Number.NEGATIVE_INFINITY) > FRESH_MS) suspect(state)
    state.probeAt = now
  }
  state.isWatched = true
  state.activeAt = now
}

/** Probes what waits for no answer; where nothing is in use, a path that is found is taken as if packets had passed. */
function tryAll(state: PathState, now: number, effects: PathEffect[]): void {
  if (state.chosen === undefined) {
    state.activeAt = now
    if (state.round >= ROUNDS_MS.length) search(state, now)
    return
  }
  for (const path of state.paths.values())
    if (path === state.chosen || path.sent.length === 0) ping(state, path, { now, effects })
}

/** Takes the peer's addresses in place of those it told before; those that its probes come from stay. */
function takeCandidates(state: PathState, candidates: readonly Candidate[], now: number): void {
  const told = new Map(candidates.map((each) => [endpointText(each.endpoint), each]))
  let isNew = false
  for (const [key, path] of state.paths) {
    const stays =
      told.has(endpointText(path.endpoint)) ||
      path.kind === 'heard' ||
      path === state.chosen ||
      isProven(path, now)
    if (!stays) state.paths.delete(key)
  }
  // the engine's own socket too: what lets nothing of others pass may know its port
  for (const socket of new Set([state.current.socket, undefined])) {
    for (const { endpoint, kind } of told.values()) {
      isNew ||= !state.paths.has(pathKey({ endpoint, socket }))
      const path = pathTo(state, { endpoint, socket }, kind)
      if (path !== undefined) path.kind = kind
    }
  }
  state.toldAt = state.toldAt.filter((at) => now - at < 60_000)
  if (!isNew && state.chosen !== undefined) return
  if (state.toldAt.length >= TOLD_SEARCHES_PER_MINUTE) return
  state.toldAt.push(now)
  // the peer is elsewhere: the way to it may be another one, or gone
  if (state.chosen !== undefined) {
    state.probeAt = now
    state.chosen.raiseAt = now
    state.chosen.raiseWaitMs = LEAST_RAISE_MS
  }
  search(state, now)
}

function takePing(
  state: PathState,
  { from, socket, nonce, length, epoch }: Extract<PathInput, { readonly type: 'ping' }>,
  now: number,
  effects: PathEffect[],
): void {
  const isProven = state.paths.get(pathKey({ endpoint: from, socket }))?.answeredAt !== undefined
  effects.push({ type: 'pong', to: from, socket, nonce, length, isProven })
  const { chosen } = state
  const isOther = isOtherPort(state, from)
  const path = pathTo(state, { endpoint: from, socket }, 'heard')
  if (path === undefined) return
  path.heardAt = now
  path.theirEpoch = Math.max(path.theirEpoch, epoch)
  if (isOther && chosen !== undefined && epoch === chosen.theirEpoch) takeOtherPort(state, chosen, nonce, now)
  else if (path === chosen) takeCopied(state, chosen, nonce, now)
  // the hole is open now from there: it may be from here too
  const wasAsked = path.sent.some(({ at }) => now - at < 100)
  const isKnown = path.answeredAt !== undefined && now - path.answeredAt < ALTERNATIVES_MS
  if (!wasAsked && !isKnown && path !== chosen) ping(state, path, { now, effects })
}

/** The peer's NAT gave the socket in use another port, and the one before may be gone; unless somebody sends copies. */
function takeOtherPort(state: PathState, chosen: Path, nonce: bigint, now: number): void {
  const before = { nonce, lost: chosen.lost, wasSuspect: state.isSuspect }
  state.otherPorts = [...state.otherPorts, before].slice(-OTHER_PORTS_KEPT)
  if (now - state.copiedAt <= COPIED_MS) return
  suspect(state)
  chosen.lost = Math.max(chosen.lost, LEFT_PROBES)
}

/** The same probe came from another port before: somebody overheard it and was faster, and the mapping is as it was. */
function takeCopied(state: PathState, chosen: Path, nonce: bigint, now: number): void {
  const first = state.otherPorts.find((each) => each.nonce === nonce)
  if (first === undefined) return
  const isNew = now - state.copiedAt > COPIED_MS
  state.copiedAt = now
  // what was lost meanwhile counts on
  if (!isNew || chosen.lost > LEFT_PROBES) return
  chosen.lost = first.lost
  state.isSuspect = first.wasSuspect
}

function takePong(
  state: PathState,
  { from, socket, nonce, isSeenAsOwn }: Extract<PathInput, { readonly type: 'pong' }>,
  now: number,
): void {
  const path = state.paths.get(pathKey({ endpoint: from, socket }))
  const sent = path?.sent.find((each) => each.nonce === nonce)
  if (path?.givenUp.includes(nonce) === true) path.lateAt = now
  if (path === undefined || sent === undefined) return
  // those before it were overtaken or lost; one answer shows that the path works, but not for longer ones
  const isSure = (length: number) => path.mtu === 0 || length <= Math.max(path.mtu + SEAL_BYTES, sent.length)
  const at = path.sent.indexOf(sent)
  path.sent = path.sent.filter((each, index) => index > at || (index < at && !isSure(each.length)))
  const rttMs = now - sent.at
  path.rttMs = path.rttMs === undefined ? rttMs : path.rttMs + (rttMs - path.rttMs) / 4
  path.answeredAt = now
  path.isThroughNat = !isSeenAsOwn || path.kind !== 'own'
  path.lost = 0
  path.silentSince = path.lateAt = undefined
  if (sent.length > LEAST_PING_BYTES)
    takeLength(path, Math.min(sent.length - SEAL_BYTES, state.wantedMtu), now)
  if (path === state.chosen) state.isSuspect = false
  else if (state.chosen !== undefined && sent.length > LEAST_PING_BYTES) {
    compare(state.chosen, path)
    if (path.better > 0) state.alternativesAt = Math.min(state.alternativesAt, now + PROBE_EVERY_MS)
  }
}

/** Packets of this length pass; where they are the first of it, longer ones are tried later. */
function takeLength(path: Path, mtu: number, now: number): void {
  if (path.mtu === 0) {
    path.raiseAt = now + LEAST_RAISE_MS
    path.raiseWaitMs = 2 * LEAST_RAISE_MS
  }
  path.mtu = Math.max(path.mtu, mtu)
  if (path.tries !== undefined && path.mtu >= path.tries.mtu) path.tries = undefined
}

/** Nothing came from there so far, but from another port of the same address, which is in use. */
function isOtherPort({ paths, chosen }: PathState, from: Endpoint): boolean {
  if (from.address !== chosen?.endpoint.address) return false
  const text = endpointText(from)
  return ![...paths.values()].some(({ endpoint }) => endpointText(endpoint) === text)
}

function isSameUse(one: UdpPath | undefined, other: UdpPath | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  const isSameWay = one.endpoint === other.endpoint && one.socket === other.socket
  return isSameWay && one.alsoStream === other.alsoStream && one.mtu === other.mtu
}

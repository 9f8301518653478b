/** Which probes are lost, and what that says of the path: suspect, dead, or too narrow for the length. Pure. */
import { isIdle } from './known-paths.ts'
import {
  GIVEN_UP_KEPT,
  GONE_MS,
  LEAST_ANSWER_MS,
  LOST_PROBES,
  MOST_ANSWER_MS,
  MTU_TRIES,
  PATH_MTUS,
  SEAL_BYTES,
} from './limits.ts'
import { withBreak } from './periodic-breaks.ts'
import type { Path, PathState } from './path-state.ts'
import { LEAST_PING_BYTES } from './probe-message.ts'
import { search } from './send-probes.ts'

/** Takes probes for lost whose answer did not come in time: when all that came was taken, as answers wait for one another. */
export function expire(state: PathState, now: number): void {
  for (const path of state.paths.values()) {
    const waitMs = answerMs(path)
    lose(state, path, { now, isLost: ({ at }) => now - at >= waitMs })
    if (isGone(path, now) && path !== state.chosen) state.paths.delete(path.key)
  }
}

/** Leaves the path in use where it is dead, or nobody needs it. */
export function leave(state: PathState, now: number): void {
  const { chosen } = state
  if (chosen !== undefined && chosen.lost >= LOST_PROBES) {
    state.brokeAt = withBreak(state.brokeAt, now)
    state.lostAt = now
    forsake(state, chosen)
    search(state, now)
  } else if (chosen !== undefined && isIdle(state, now)) {
    forsake(state, chosen)
    state.isLetGo = true
  }
}

/** Nothing came for long from an address that the peer never told. */
function isGone({ kind, heardAt, answeredAt }: Path, now: number): boolean {
  if (kind !== 'heard' || heardAt === undefined) return false
  return now - Math.max(heardAt, answeredAt ?? heardAt) > GONE_MS
}

/** Takes those probes of the path for lost, and draws the conclusions. */
export function lose(
  state: PathState,
  path: Path,
  { now, isLost }: { readonly now: number; readonly isLost: (sent: Path['sent'][number]) => boolean },
): void {
  const lost = path.sent.filter(isLost)
  if (lost.length === 0) return
  path.sent = path.sent.filter((sent) => !lost.includes(sent))
  path.givenUp = [...path.givenUp, ...lost.map(({ nonce }) => nonce)].slice(-GIVEN_UP_KEPT)
  path.better = 0
  // that one does not pass which is longer than those that did says nothing of the path
  const passes = path.mtu > 0 ? path.mtu + SEAL_BYTES : LEAST_PING_BYTES
  const isLonger = ({ length }: (typeof lost)[number]) => length > passes
  for (const sent of lost) {
    const { tries } = path
    if (tries !== undefined && sent.length === tries.mtu + SEAL_BYTES) path.tries = nextTry(tries, path.mtu)
    else if (!isLonger(sent)) {
      path.lost++
      path.silentSince ??= now
    }
  }
  if (path === state.chosen && !lost.every(isLonger)) suspect(state)
  else if (path !== state.chosen && path.lost >= LOST_PROBES) forsake(state, path)
}

/** The path has to be proven again, its MTU too. */
export function forsake(state: PathState, path: Path): void {
  path.answeredAt = path.rttMs = path.tries = undefined
  path.mtu = path.lost = path.better = 0
  if (path === state.chosen) {
    path.heardAt = undefined
    state.chosen = undefined
    state.isSuspect = false
  }
}

/** Packets go by the stream too, and all addresses are probed at once. */
export function suspect(state: PathState): void {
  if (!state.isSuspect) state.alternativesAt = state.probeAt = Number.NEGATIVE_INFINITY
  state.isSuspect = true
}

/** @param proven the length that is known to pass; 0: none so far */
function nextTry(tries: { readonly mtu: number; readonly lost: number }, proven: number): Path['tries'] {
  if (tries.lost + 1 < MTU_TRIES) return { mtu: tries.mtu, lost: tries.lost + 1 }
  const mtu = PATH_MTUS.find((each) => each < tries.mtu)
  if (proven > 0 && (mtu === undefined || mtu <= proven)) return undefined
  // nothing shorter is of use: the next search may find another way
  return mtu === undefined ? { mtu: 0, lost: 0 } : { mtu, lost: 0 }
}

/** How long an answer on the path is waited for, in ms. */
export function answerMs({ rttMs }: Path): number {
  if (rttMs === undefined) return MOST_ANSWER_MS
  return Math.min(MOST_ANSWER_MS, Math.max(LEAST_ANSWER_MS, 3 * rttMs + 200))
}

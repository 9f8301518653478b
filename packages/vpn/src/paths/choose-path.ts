/** Which path packets take: the one that is usable, and leaves the one before only when clearly better. Pure. */
import { alternativesMs, isIdle, isProven, epochOf } from './known-paths.ts'
import {
  ACTIVE_MS,
  BETTER_MS,
  BETTER_PART,
  BETTER_PROBES,
  LEAST_BETTER_MS,
  LEFT_PROBES,
  PROOF_MS,
  ROUNDS_MS,
} from './limits.ts'
import { withBreak } from './periodic-breaks.ts'
import type { Path, PathState } from './path-state.ts'
import type { CandidateKind } from '../wire/control-message.ts'

/** How a candidate ranks where round trips are alike. */
const RANKS: Readonly<Record<CandidateKind, number>> = { own: 0, mapped: 1, seen: 2, heard: 3 }

/**
 * Takes the best usable path if there is none or the one in use is suspect. Otherwise it takes only a path whose sockets
 * replaced those in use, or one that is clearly better.
 */
export function choose(state: PathState, now: number): void {
  if (isIdle(state, now)) return
  const usable = [...state.paths.values()].filter((path) => isUsable(state, path, now))
  const { chosen } = state
  if (chosen === undefined || state.isSuspect) {
    // a suspect one is left for one that answers when that was no single loss, which proves nothing
    const isWell = (path: Path) =>
      chosen === undefined || epochOf(path) > epochOf(chosen) || chosen.lost >= LEFT_PROBES
    const best = usable.filter((path) => path !== chosen && isWell(path)).sort(byPreference)[0]
    if (best === undefined) return
    if (chosen !== undefined) state.brokeAt = withBreak(state.brokeAt, now)
    return use(state, best, now)
  }
  const newer = usable.filter((path) => epochOf(path) > epochOf(chosen)).sort(byPreference)[0]
  if (newer !== undefined) {
    // the mappings of before may go now: nobody needs them
    state.brokeAt = []
    return use(state, newer, now)
  }
  const isBetter = (path: Path) => path.better >= BETTER_PROBES && epochOf(path) === epochOf(chosen)
  const better = usable.filter((path) => path !== chosen && isBetter(path)).sort(byPreference)[0]
  if (better !== undefined) use(state, better, now)
}

/** Counts in how many probes in a row a path was clearly better than the one in use. */
export function compare(chosen: Path, path: Path): void {
  const [own, other] = [chosen.rttMs ?? 0, path.rttMs ?? Number.POSITIVE_INFINITY]
  const gain = own - other
  const isBetter = gain >= BETTER_MS || (gain >= LEAST_BETTER_MS && gain >= own * BETTER_PART)
  path.better = isBetter ? path.better + 1 : 0
}

function use(state: PathState, path: Path, now: number): void {
  // nothing forgets it, and its first packets go by the stream too where its proof is old by then
  if (!state.isWatched && !path.isThroughNat) state.activeAt = Math.min(state.activeAt, now - ACTIVE_MS - 1)
  for (const each of state.paths.values()) each.better = 0
  state.chosen = path
  state.isSuspect = false
  state.round = ROUNDS_MS.length
  state.probeAt = now
  state.alternativesAt = now + alternativesMs(state)
}

function isUsable(state: PathState, path: Path, now: number): boolean {
  return (
    isProven(path, now) &&
    path.lost === 0 &&
    path.mtu >= state.leastMtu &&
    path.answeredAt !== undefined &&
    now - path.answeredAt <= PROOF_MS
  )
}

/** Sorts by the latest epochs, then by round trip; where that is alike, by the nearer kind, then IPv6 first. */
function byPreference(one: Path, other: Path): number {
  const epochs = epochOf(other) - epochOf(one)
  if (epochs !== 0) return epochs
  const gain = (one.rttMs ?? 0) - (other.rttMs ?? 0)
  if (Math.abs(gain) >= LEAST_BETTER_MS) return gain
  const rank = RANKS[one.kind] - RANKS[other.kind]
  return rank === 0 ? Number(isV4(one)) - Number(isV4(other)) : rank
}

function isV4({ endpoint }: Path): boolean {
  return !endpoint.address.includes(':')
}

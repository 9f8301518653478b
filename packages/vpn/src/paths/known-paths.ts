/** Keeps what is known of the addresses at which a peer may be. Pure. */
import { type Endpoint, endpointText } from '@mesh/engine'
import { ACTIVE_MS, HEARD_MS, IDLE_MS, MAX_PATHS } from './limits.ts'
import type { CandidateKind, Path, PathState } from './path-state.ts'

/** The path to an address, a new one where it is not known; undefined: too many are known. */
export function pathTo(state: PathState, endpoint: Endpoint, kind: CandidateKind): Path | undefined {
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
    isThroughNat: true,
    better: 0,
  }
  state.paths.set(key, path)
  return path
}

/** A probe of ours was answered and one of theirs heard; how long packets may be is another question. */
export function isProven({ answeredAt, heardAt }: Path, now: number): boolean {
  return answeredAt !== undefined && heardAt !== undefined && now - heardAt <= HEARD_MS
}

/** Packets passed a short while ago. */
export function isActive({ activeAt }: PathState, now: number): boolean {
  return now - activeAt <= ACTIVE_MS
}

/** Nobody needs a path. */
export function isIdle({ isKept, activeAt }: PathState, now: number): boolean {
  return !isKept && now - activeAt > IDLE_MS
}

/** The address that answered longest ago goes, never the one in use. */
function makeRoom(state: PathState): boolean {
  const others = [...state.paths.values()].filter((path) => path !== state.chosen)
  const [oldest] = others.sort((one, other) => (one.answeredAt ?? 0) - (other.answeredAt ?? 0))
  return oldest !== undefined && state.paths.delete(oldest.key)
}

/** Why packets to a peer take the way that they take, for people. Pure. */
import { type Endpoint, endpointText } from '@mesh/engine'
import { isHeardLately } from './known-paths.ts'
import { HEARD_MS, ROUNDS_MS } from './limits.ts'
import type { Path, PathState } from './path-state.ts'
import type { Candidate, CandidateKind, PathsMessage } from '../wire/control-message.ts'
import type { SeenAddresses } from './seen-addresses.ts'

/**
 * Why there is no path over UDP. `off`: this node has no socket for it. `unsupported`: the peer has none, or no control
 * channel stands. `searching`: probes are on their way. `blocked`: no probe was answered and none came. `one-way`: the
 * peer's probes come, ours are not answered. `both-vary`: both NATs choose a port for each peer. `one-varies`: one does, and
 * what is before the other peer lets nobody in whom it did not ask at that port. `same-nat`: no probe was answered and none
 * came, and both are behind one NAT. `too-small`: packets of 1280 bytes do not
 * pass. `too-slow`: probes are answered too late. `idle`: no packets needed one for long.
 */
export type NoPathReason =
  | 'off'
  | 'unsupported'
  | 'searching'
  | 'blocked'
  | 'one-way'
  | 'both-vary'
  | 'one-varies'
  | 'same-nat'
  | 'too-small'
  | 'too-slow'
  | 'idle'

/** The way over UDP to a peer, or why there is none. */
export interface UdpStatus {
  /** `suspect`: probes were lost, or are expected to be, and packets go by the stream as well. */
  readonly state: 'direct' | 'suspect' | 'none'
  readonly reason: NoPathReason | undefined
  /** The peer's address in use. */
  readonly endpoint: Endpoint | undefined
  readonly rttMs: number | undefined
  /** All addresses of the peer that are known, with what is known of each. */
  readonly candidates: readonly CandidateStatus[]
}

interface CandidateStatus {
  readonly endpoint: Endpoint
  readonly kind: CandidateKind
  /** The last probe was answered. */
  readonly isAnswered: boolean
  readonly isHeard: boolean
  readonly rttMs: number | undefined
  /** The longest packet that was proven to pass, in bytes, 1280 or the longest of the tunnel at least; 0: none. */
  readonly mtu: number
}

export function noPath(reason: NoPathReason): UdpStatus {
  return { state: 'none', reason, endpoint: undefined, rttMs: undefined, candidates: [] }
}

/** The NATs before both ends, as far as they are known. */
export interface Nats {
  /** Whose NAT chooses a port for each peer: nobody's that is known, both ends', or that of one. */
  readonly varying: 'none' | 'both' | 'one'
  /** Others see both at one address: one NAT is before both. */
  readonly isSame: boolean
}

/** The NATs by what both ends know of them. */
export function natsOf(
  seen: Pick<SeenAddresses, 'varies' | 'latest'>,
  own: readonly Candidate[],
  { varies, candidates }: Pick<PathsMessage, 'varies' | 'candidates'>,
): Nats {
  const isSame = isSameNat(own, candidates)
  if (seen.varies && varies) return { varying: 'both', isSame }
  // one end alone counts where others see both: else UDP may not pass at all
  const areSeen = seen.latest(1).length > 0 && candidates.some(({ kind }) => kind === 'seen')
  return { varying: (seen.varies || varies) && areSeen ? 'one' : 'none', isSame }
}

/** Says whether one NAT is before both ends, by what each tells of itself. */
export function isSameNat(own: readonly Candidate[], theirs: readonly Candidate[]): boolean {
  const seen = own.filter(({ kind }) => kind === 'seen').map(({ endpoint }) => endpoint.address)
  return theirs.some(({ kind, endpoint }) => kind === 'seen' && seen.includes(endpoint.address))
}

/** @param now in ms of the monotonic clock */
export function explain(state: PathState, nats: Nats, now: number): UdpStatus {
  const { chosen } = state
  const candidates = byAddress(state).map((path) => ({
    endpoint: path.endpoint,
    kind: path.kind,
    isAnswered: path.answeredAt !== undefined && path.lost === 0,
    isHeard: chosen === undefined ? isHeard(state, path) : isHeardNow(path, now),
    rttMs: path.rttMs,
    mtu: path.mtu < state.leastMtu ? 0 : path.mtu,
  }))
  if (chosen === undefined) return { ...noPath(reasonOf(state, nats, now)), candidates }
  const [endpoint, rttMs] = [chosen.endpoint, chosen.rttMs]
  const both = state.isSuspect || state.isBreakNear
  return { state: both ? 'suspect' : 'direct', reason: undefined, endpoint, rttMs, candidates }
}

/**
 * True while a probe of the peer explains why there is no path. A probe from before the last path died, or from long before the
 * end of the last search, explains nothing.
 */
function isHeard({ lostAt, searchedAt }: PathState, { heardAt }: Path): boolean {
  return heardAt !== undefined && heardAt > Math.max(lostAt, searchedAt - HEARD_MS)
}

/** A probe of the peer came a short while ago; where this node's own are lost, since that was found. */
function isHeardNow(path: Path, now: number): boolean {
  const { heardAt = 0, silentSince = heardAt } = path
  return isHeardLately(path, now) && heardAt >= silentSince
}

/** The path to each address of the peer that says most of it: by whichever socket it was answered last. */
function byAddress({ paths, chosen }: PathState): readonly Path[] {
  const found = new Map<string, Path>()
  for (const path of paths.values()) {
    const key = endpointText(path.endpoint)
    const other = found.get(key)
    const says = (each: Path) => (each === chosen ? Number.POSITIVE_INFINITY : (each.answeredAt ?? -1))
    if (other === undefined || says(path) > says(other)) found.set(key, path)
  }
  return [...found.values()]
}

function reasonOf(state: PathState, { varying, isSame }: Nats, now: number): NoPathReason {
  if (state.isLetGo) return 'idle'
  const paths = [...state.paths.values()]
  if (paths.some(({ tries }) => tries?.mtu === 0)) return 'too-small'
  // the longest packet that passes is looked for after the search, too
  if (paths.some(({ tries }) => tries !== undefined)) return 'searching'
  const wasAnswered = paths.some(({ answeredAt }) => answeredAt !== undefined)
  // a search that is repeated changes nothing of what the one before it found
  const isFirst = wasAnswered || state.searchedAt <= state.lostAt
  if (state.round < ROUNDS_MS.length && isFirst) return 'searching'
  if (wasAnswered) return 'idle'
  if (paths.some(({ lateAt }) => lateAt !== undefined && now - lateAt < HEARD_MS)) return 'too-slow'
  if (varying === 'both') return 'both-vary'
  if (paths.some((path) => isHeard(state, path))) return 'one-way'
  if (isSame) return 'same-nat'
  return varying === 'one' ? 'one-varies' : 'blocked'
}

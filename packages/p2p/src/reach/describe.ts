/** Describes in one line for people what is known of reaching a peer, what was tried and what comes next. */
import { shortPeerId, tryParsePeerId } from '@mesh/core'
import { isConnected, isDirect, openOf, type PeerConnection, type PeerState } from './peer-state.ts'

/** Longest line, in characters. */
export const MAX_REACH_CHARACTERS = 240

/** Begins with the state: `direct`, `relayed`, `dialling`, `away`. Lines are told apart by `reachPhase`. */
export function describeReach(state: PeerState, now: number): string {
  const parts = isConnected(state) ? connected(state, now) : away(state, now)
  return parts.join('; ').slice(0, MAX_REACH_CHARACTERS)
}

/** Changes when something happened to the peer, and not with time alone. */
export function reachPhase(state: PeerState): string {
  const { search, demand, upgrade, relayed, dials } = state
  const open = openOf(state).map(({ id }) => id)
  const tried = [search?.failures, search?.needsRelay, demand?.tries, upgrade?.tries, relayed?.failed]
  return [open.join(), Object.keys(dials).join(), tried.join(), upgrade?.running === undefined].join(' ')
}

function connected(state: PeerState, now: number): string[] {
  const connection = openOf(state).find(({ direct }) => direct) ?? openOf(state)[0]
  if (connection === undefined) return []
  const { since, outbound } = connection
  const how = `${wayOf(connection)} for ${formatSpan(now - since)}, dialled by ${outbound ? 'this node' : 'the peer'}`
  const others = openOf(state).length - 1
  return [
    how,
    ...(others > 0 ? [`${others} more to close`] : []),
    ...(isDirect(state) ? [] : whyRelayed(state, now)),
    ...(state.relay.reserving ? ['asked to relay'] : []),
  ]
}

function wayOf({ direct, transport, relayAt }: PeerConnection): string {
  if (direct) return transport === undefined ? 'direct' : `direct by ${transport}`
  const relay = relayAt?.split('/p2p/').at(-1)
  const id = relay === undefined ? undefined : tryParsePeerId(relay)
  return id === undefined ? 'relayed' : `relayed by ${shortPeerId(id)}`
}

function whyRelayed({ upgrade, lastError }: PeerState, now: number): string[] {
  if (upgrade === undefined) return []
  const { tries, running, due } = upgrade
  if (running !== undefined) return ['tries to become direct']
  const failed = lastError?.replace(/: relayed$/, '')
  const before = tries === 0 || failed === undefined ? 'not yet tried to become direct' : failed
  return [before, due > now ? `tries again in ${formatSpan(due - now)}` : 'waits to try']
}

function away(state: PeerState, now: number): string[] {
  const { addresses, sources, search, demand, dials, lastError } = state
  const isDialling = dials.direct !== undefined || dials.relay !== undefined
  const known = `${addresses.length} address${addresses.length === 1 ? '' : 'es'}`
  return [
    isDialling ? `dialling${dials.relay === undefined ? '' : ' over a relay'}` : 'away',
    ...(demand === undefined ? [] : ['asked for']),
    sources.length === 0 ? known : `${known} from ${sources.join(', ')}`,
    ...(search === undefined || search.failures === 0
      ? []
      : [search.failures === 1 ? '1 dial failed' : `${search.failures} dials failed`]),
    ...(lastError === undefined ? [] : [`last: ${lastError}`]),
    ...(isDialling ? [] : [next(state, now)]),
  ]
}

function next({ search, rest, demand }: PeerState, now: number): string {
  if (demand?.retryAt !== undefined) return 'next dial at once'
  if (search === undefined) return 'no dial planned'
  if (search.needsRelay) {
    return rest.until > now
      ? `only a relay leads there: rests for ${formatSpan(rest.until - now)}`
      : 'only a relay leads there: waits for its turn'
  }
  return search.due > now
    ? `next dial in ${formatSpan(search.due - now)}`
    : 'waits for its turn to be dialled'
}

/** Prints a length of time: `4 s`, `12 min`, `3 h`. */
function formatSpan(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1_000))
  if (s < 120) return `${s} s`
  return s < 7_200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3_600)} h`
}

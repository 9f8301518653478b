/** A fair order of peers that wait for a dial: an address that tells of thousands does not delay those of others. Pure. */
import { isSearching, type PeerState } from './peer-state.ts'

/** Stands for who told of a peer where nobody did: all such count as told by one. */
const NOBODY = ''

/** A peer that waits, and the address that it counts under. */
export interface Waiting {
  readonly state: PeerState
  readonly teller: string
}

/**
 * Orders peers that wait: configured ones first, then one of each address after the other, those of one address by rank.
 *
 * @param waiting those whose dial is due
 * @param all those whose dial is under way among them: they count for their address
 */
export function inFairOrder(
  waiting: readonly PeerState[],
  all: readonly PeerState[],
  byRank: (a: PeerState, b: PeerState) => number,
): readonly Waiting[] {
  const counts = countByTeller(waiting)
  const due = new Set(waiting)
  const taken = countByTeller(all.filter((state) => isSearching(state) && !due.has(state)))
  const placed = waiting.toSorted(byRank).map((state) => {
    const teller = tellerOf(state, counts)
    const round = taken.get(teller) ?? 0
    taken.set(teller, round + 1)
    return { state, teller, round: state.search?.kind === 'configured' ? -1 : round }
  })
  return placed.toSorted((a, b) => a.round - b.round || byRank(a.state, b.state))
}

/** Chooses, of the addresses that told of a peer, the one that told of the fewest. */
function tellerOf({ tellers }: PeerState, counts: ReadonlyMap<string, number>): string {
  let [best = NOBODY] = tellers
  for (const teller of tellers) if ((counts.get(teller) ?? 0) < (counts.get(best) ?? 0)) best = teller
  return best
}

/** Gives how many of the peers each address told of. */
export function countByTeller(states: readonly PeerState[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { tellers } of states)
    for (const teller of tellers.length === 0 ? [NOBODY] : tellers)
      counts.set(teller, (counts.get(teller) ?? 0) + 1)
  return counts
}

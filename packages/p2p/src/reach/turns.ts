/**
 * Whose turn it is among peers that wait for a dial: addresses that told of them take turns, so that one that tells of
 * thousands keeps nobody else's waiting. Pure.
 */
import { isSearching, type PeerState } from './peer-state.ts'

/** Stands for who told of a peer where nobody did: all such have one turn. */
const NOBODY = ''

/** A peer that waits, and the address whose turn it takes. */
export interface Waiting {
  readonly state: PeerState
  readonly turnOf: string
}

/**
 * Orders peers that wait: configured ones first, then one of each address after the other, those of one address by rank.
 *
 * @param waiting those whose dial is due
 * @param all those whose dial is under way among them: it was the turn of their address
 */
export function inTurn(
  waiting: readonly PeerState[],
  all: readonly PeerState[],
  byRank: (a: PeerState, b: PeerState) => number,
): readonly Waiting[] {
  const counts = countByTeller(waiting)
  const due = new Set(waiting)
  const taken = countByTeller(all.filter((state) => isSearching(state) && !due.has(state)))
  const placed = waiting.toSorted(byRank).map((state) => {
    const turnOf = tellerOf(state, counts)
    const turn = taken.get(turnOf) ?? 0
    taken.set(turnOf, turn + 1)
    return { state, turnOf, turn: state.search?.kind === 'configured' ? -1 : turn }
  })
  return placed.toSorted((a, b) => a.turn - b.turn || byRank(a.state, b.state))
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

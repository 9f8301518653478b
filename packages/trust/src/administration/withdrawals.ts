/**
 * Takes back what of a peer counts nowhere: what it wrote after it was shut out, and all that it wrote where it was only in
 * by a claim, or by an invite that another peer used first. A node that hears late that a peer is out has taken some of that,
 * and takes it out again, so that all members hold the same.
 */
import type { PeerId } from '@mesh/core'
import type { Roster } from './roster.ts'

interface WithdrawalsInit {
  readonly self: PeerId
  readonly mayUse: (peer: PeerId) => boolean
  /** The version of a peer's first revocation that stands. */
  readonly revokedSince: (peer: PeerId) => bigint | undefined
}

export class Withdrawals {
  readonly #init: WithdrawalsInit
  /** The peers that statements name, or named before the last withdrawal. */
  #known: ReadonlySet<PeerId> = new Set()
  /** The versions up to which peers' entries were left, by peers that are out. */
  readonly #done = new Map<PeerId, bigint>()

  constructor(init: WithdrawalsInit) {
    this.#init = init
  }

  /** Must be told of every roster: a peer that none names any more may have written something. */
  note(roster: Roster): void {
    this.#known = this.#known.union(new Set(namedIn(roster)))
  }

  /** Gives the versions above which nothing of a peer counts, for peers of whom that was not said before. */
  takeDue(roster: Roster): ReadonlyMap<PeerId, bigint> {
    const { self, mayUse, revokedSince } = this.#init
    const due = new Map<PeerId, bigint>()
    for (const peer of this.#known) {
      const above = revokedSince(peer) ?? -1n
      if (mayUse(peer)) this.#done.delete(peer)
      else if (peer !== self && this.#done.get(peer) !== above) due.set(peer, above)
    }
    for (const [peer, above] of due) this.#done.set(peer, above)
    this.#known = new Set(namedIn(roster))
    for (const peer of this.#done.keys()) if (!this.#known.has(peer)) this.#done.delete(peer)
    return due
  }
}

/** The peers that statements name, whether they are in or not. */
function* namedIn({ members, invites }: Roster): Generator<PeerId> {
  for (const { peer } of members) yield peer
  for (const { claims } of invites) yield* claims
}

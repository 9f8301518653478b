/**
 * Names the owners whose entries must be withdrawn. Those are entries that a revocation does not keep, and entries of a peer
 * that was in only by a claim or by another peer's invite. A node may have taken them before it heard of the revocation.
 * It removes them, so that all members hold the same.
 */
import type { PeerId } from '@mesh/core'
import type { Roster } from './roster.ts'

interface WithdrawalsInit {
  readonly self: PeerId
  readonly mayUse: (peer: PeerId) => boolean
  /** Names the revocations of a peer that stand; '' for none. */
  readonly revocationsOf: (peer: PeerId) => string
}

export class Withdrawals {
  readonly #init: WithdrawalsInit
  /** The peers that statements name, or named before the last withdrawal. */
  #known: ReadonlySet<PeerId> = new Set()
  /** The revocations by which peers' entries were taken back, by peers that are out. */
  readonly #done = new Map<PeerId, string>()

  constructor(init: WithdrawalsInit) {
    this.#init = init
  }

  /** Must be told of every roster: a peer that none names any more may have written something. */
  note(roster: Roster): void {
    this.#known = this.#known.union(new Set(namedIn(roster)))
  }

  /** Gives the peers that are out by other revocations than when they were given before, or were not given yet. */
  takeDue(roster: Roster): ReadonlySet<PeerId> {
    const { self, mayUse, revocationsOf } = this.#init
    const due = new Set<PeerId>()
    for (const peer of this.#known) {
      const revocations = revocationsOf(peer)
      if (mayUse(peer)) this.#done.delete(peer)
      else if (peer !== self && this.#done.get(peer) !== revocations) {
        due.add(peer)
        this.#done.set(peer, revocations)
      }
    }
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

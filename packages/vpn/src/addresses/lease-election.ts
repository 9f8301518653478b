/**
 * Who takes the next address (docs/WIRE.md 6.1), so that nodes of all kinds take one after another. Legacy nodes wait
 * for whoever leads, for ever; this one passes over those who do nothing. Nodes that ask for an address in the ledger
 * know who else does, and take theirs in one turn. Pure: it is asked with what the ledger shows.
 */
import { leaderOf } from '@mesh/ledger'
import {
  FURTHER_PATIENCE_MS,
  LEADER_PATIENCE_MS,
  LEADER_RACE_MS,
  LEGACY_LEADER_PATIENCE_MS,
  LEGACY_NEXT_PATIENCE_MS,
  NEXT_PATIENCE_MS,
} from './limits.ts'

/** The findings of one look at the ledger. */
export interface ElectionView {
  /** Nodes without a machine; this node may be missing. */
  readonly waiting: readonly string[]
  /** Nodes that ask for an address, this one among them: they share its turn. */
  readonly asking: readonly string[]
  readonly leader: string | undefined
  readonly isLive: (peer: string) => boolean
  /** True for a peer that is known to be of our kind, which acts within a second. */
  readonly isOurs: (peer: string) => boolean
}

export type ElectionStep =
  /** This node may take an address. */
  | { readonly type: 'take' }
  /** This node is to name itself leader. */
  | { readonly type: 'lead' }
  /**
   * The peer `for` is awaited: another whose turn it is, or this node while others may name themselves, too. To be
   * asked again at `untilMs`.
   */
  | { readonly type: 'wait'; readonly for: string; readonly untilMs: number }

type Role = 'leader' | 'next'

export class LeaseElection {
  readonly #self: string
  /** Those who had their chance. */
  readonly #passed = new Set<string>()
  /** Those who led for long enough to take an address. */
  readonly #led = new Set<string>()
  #leader: string | undefined
  #leaderSince = Number.NEGATIVE_INFINITY
  #awaited: { readonly peer: string; readonly role: Role; readonly since: number } | undefined
  /** How many were passed over in a row without anybody leading. */
  #silent = 0

  constructor(self: string) {
    this.#self = self
  }

  /** Number of nodes that led and still show no address: each may have taken one without this node having heard. */
  get unheard(): number {
    return this.#led.size
  }

  next(view: ElectionView, nowMs: number): ElectionStep {
    const self = this.#self
    const group = new Set([...view.asking, self])
    this.#noteLeader(view.leader, nowMs)
    this.#forgetPlaced(view.waiting, group)
    const others = view.waiting.filter((peer) => !group.has(peer) && view.isLive(peer))
    if (others.length === 0) return { type: 'take' }
    const leader = this.#leader
    if (leader !== undefined && group.has(leader)) {
      const untilMs = this.#leaderSince + LEADER_RACE_MS
      return nowMs >= untilMs ? { type: 'take' } : { type: 'wait', for: leader, untilMs }
    }
    for (;;) {
      const active = others.filter((peer) => !this.#passed.has(peer))
      const leads = leader !== undefined && active.includes(leader)
      const peer = leads ? leader : leaderOf([...active, ...group].filter((each) => !this.#passed.has(each)))
      if (peer === undefined || peer === self) return { type: 'lead' }
      const untilMs = this.#await(peer, leads ? 'leader' : 'next', view.isOurs(peer), nowMs)
      if (untilMs !== undefined) return { type: 'wait', for: peer, untilMs }
    }
  }

  #noteLeader(leader: string | undefined, nowMs: number): void {
    if (leader === this.#leader) return
    if (this.#leader !== undefined && nowMs >= this.#leaderSince + LEADER_RACE_MS) this.#led.add(this.#leader)
    this.#leader = leader
    this.#leaderSince = nowMs
    this.#silent = 0
    // whoever is named anew gets a new chance
    if (leader !== undefined) this.#passed.delete(leader)
  }

  /** Those of the group take an address of their own beside this node's: none of theirs is unheard. */
  #forgetPlaced(stillWaiting: readonly string[], group: ReadonlySet<string>): void {
    const waiting = new Set(stillWaiting)
    for (const peer of this.#led) if (!waiting.has(peer) || group.has(peer)) this.#led.delete(peer)
    for (const peer of this.#passed) if (!waiting.has(peer) || peer === this.#self) this.#passed.delete(peer)
  }

  /** Gives the time until when the peer may take its time, in the clock's ms; undefined when that is over. */
  #await(peer: string, role: Role, isOurs: boolean, nowMs: number): number | undefined {
    if (this.#awaited?.peer !== peer || this.#awaited.role !== role) {
      this.#awaited = { peer, role, since: nowMs }
    }
    const untilMs = this.#awaited.since + this.#patienceMs(role, isOurs)
    if (nowMs < untilMs) return untilMs
    this.#passed.add(peer)
    if (role === 'next') this.#silent++
    else this.#led.add(peer)
    return undefined
  }

  #patienceMs(role: Role, isOurs: boolean): number {
    if (role === 'leader') return isOurs ? LEADER_PATIENCE_MS : LEGACY_LEADER_PATIENCE_MS
    if (this.#silent > 0) return FURTHER_PATIENCE_MS / 2 ** (this.#silent - 1)
    return isOurs ? NEXT_PATIENCE_MS : LEGACY_NEXT_PATIENCE_MS
  }
}

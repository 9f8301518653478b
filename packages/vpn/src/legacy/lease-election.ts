/**
 * Whose turn it is to take an address (docs/WIRE.md 6.1), so that nodes of all kinds take one after another. Legacy nodes
 * wait for whoever leads, for ever; this one passes over those who do nothing.
 */
import { leaderOf } from '@mesh/ledger'
import {
  FURTHER_PATIENCE_MS,
  LEADER_PATIENCE_MS,
  LEADER_RACE_MS,
  NEXT_PATIENCE_MS,
  LEGACY_LEADER_PATIENCE_MS,
  LEGACY_NEXT_PATIENCE_MS,
} from './limits.ts'

/** What one look at the ledger shows. */
export interface ElectionView {
  /** Nodes without a machine; this node may be missing. */
  readonly waiting: readonly string[]
  readonly leader: string | undefined
  readonly isLive: (peer: string) => boolean
  /** Known to be of our kind, which acts within a second. */
  readonly isOurs: (peer: string) => boolean
}

type ElectionStep =
  /** This node may take an address. */
  | { readonly type: 'take' }
  /** This node is to name itself leader. */
  | { readonly type: 'lead' }
  /** Another's turn, or the settling of this node's own (`for` is this node then); to be asked again at that time. */
  | { readonly type: 'wait'; readonly for: string; readonly untilMs: number }

export interface LeaseElection {
  next(view: ElectionView, nowMs: number): ElectionStep
  /** Nodes that led and still show no address: each may have taken one without this node having heard. */
  readonly unheard: number
}

type Role = 'leader' | 'next'

export function createLeaseElection(self: string): LeaseElection {
  /** Those who had their chance. */
  const passed = new Set<string>()
  /** Those who led for long enough to take an address. */
  const led = new Set<string>()
  let leader: string | undefined
  let leaderSince = Number.NEGATIVE_INFINITY
  let awaited: { readonly peer: string; readonly role: Role; readonly since: number } | undefined
  /** How many were passed over in a row without anybody leading. */
  let silent = 0

  const noteLeader = (now: string | undefined, nowMs: number) => {
    if (now === leader) return
    if (leader !== undefined && nowMs >= leaderSince + LEADER_RACE_MS) led.add(leader)
    leader = now
    leaderSince = nowMs
    silent = 0
    // Whoever is named anew gets a new chance.
    if (now !== undefined) passed.delete(now)
  }
  const patienceMs = (role: Role, isOurs: boolean): number => {
    if (role === 'leader') return isOurs ? LEADER_PATIENCE_MS : LEGACY_LEADER_PATIENCE_MS
    if (silent > 0) return FURTHER_PATIENCE_MS / 2 ** (silent - 1)
    return isOurs ? NEXT_PATIENCE_MS : LEGACY_NEXT_PATIENCE_MS
  }
  /** Until when this one's turn lasts; undefined when it is over. */
  const awaitTurn = (peer: string, role: Role, view: ElectionView, nowMs: number): number | undefined => {
    if (awaited?.peer !== peer || awaited.role !== role) awaited = { peer, role, since: nowMs }
    const untilMs = awaited.since + patienceMs(role, view.isOurs(peer))
    if (nowMs < untilMs) return untilMs
    passed.add(peer)
    if (role === 'next') silent++
    else led.add(peer)
    return undefined
  }
  return {
    get unheard() {
      return led.size
    },
    next(view, nowMs) {
      noteLeader(view.leader, nowMs)
      const waiting = new Set(view.waiting)
      for (const known of [passed, led]) {
        for (const peer of known) if (!waiting.has(peer) || peer === self) known.delete(peer)
      }
      const others = view.waiting.filter((peer) => peer !== self && view.isLive(peer))
      if (others.length === 0) return { type: 'take' }
      if (leader === self) {
        const untilMs = leaderSince + LEADER_RACE_MS
        return nowMs >= untilMs ? { type: 'take' } : { type: 'wait', for: self, untilMs }
      }
      for (;;) {
        const active = others.filter((peer) => !passed.has(peer))
        const leads = leader !== undefined && active.includes(leader)
        const peer = leads ? leader : leaderOf([...active, self])
        if (peer === undefined || peer === self) return { type: 'lead' }
        const untilMs = awaitTurn(peer, leads ? 'leader' : 'next', view, nowMs)
        if (untilMs !== undefined) return { type: 'wait', for: peer, untilMs }
      }
    },
  }
}

/** Finds what of the ledger has had its time (docs/WIRE.md 4.8): a pure look at one state. */
import type { KeyedEntry } from '../entries/entry.ts'
import { hasExpired } from './judge.ts'
import { leaderOf } from './leader.ts'
import { AVAILABLE_MS, OVERDUE_MS } from '../limits.ts'
import { isLiveAt, nodesWithin } from '../state/liveness.ts'
import { type BucketPolicy, holderOf } from './policy.ts'
import type { Position } from '../snapshot.ts'
import { leavesFrom } from '../state/tree.ts'
import type { Tree } from '../state/tree-node.ts'

export interface ReapInit {
  readonly nowMs: number
  readonly livenessMs: number
  /** The least time since an entry expired, in ms, for it to be told. */
  readonly overdueMs: number
  readonly tombstoneTtlMs: number
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
}

export interface Reapable {
  /** Tombstones that every node collects. */
  readonly collect: readonly KeyedEntry[]
  /** Entries whose owner is gone. */
  readonly expired: readonly Position[]
}

export interface ElectionInit {
  readonly nowMs: number
  readonly livenessMs: number
  /** False for owners that this node keeps out: nobody would take what they end. */
  readonly admits: (owner: string) => boolean
}

/**
 * Elects the node that ends expired entries, among the living. Legacy members elect among the heartbeats of the last 15
 * minutes. A living winner there wins here too, so there are never two. Undefined when nobody is alive: after a suspension
 * a node sees everyone as gone, itself too.
 */
export function reapingLeader(tree: Tree, init: ElectionInit): string | undefined {
  return leaderOf(candidates(tree, init))
}

/**
 * How long entries that this node ends must have expired, in ms; undefined when it ends none. A leader may do nothing, and a
 * member can find a key that wins every election. Therefore another living node, chosen at random, ends overdue entries.
 *
 * @param draw random number from 0 to 1
 */
export function reapsAfter(tree: Tree, self: string, draw: number, init: ElectionInit): number | undefined {
  const living = candidates(tree, init)
  if (leaderOf(living) === self) return 0
  return draw * living.length < 1 && living.includes(self) ? OVERDUE_MS : undefined
}

function candidates(tree: Tree, { nowMs, livenessMs, admits }: ElectionInit): string[] {
  return nodesWithin(tree, nowMs, Math.min(livenessMs, AVAILABLE_MS)).filter((node) => admits(node))
}

export function findReapable(tree: Tree, init: ReapInit): Reapable {
  const { nowMs, tombstoneTtlMs, policyOf, overdueMs } = init
  const livenessMs = init.livenessMs + overdueMs
  const collect: KeyedEntry[] = []
  const expired: Position[] = []
  const living = new Map<string, boolean>()
  const isLive = (owner: string) => {
    const known = living.get(owner) ?? isLiveAt(tree, owner, nowMs, livenessMs)
    living.set(owner, known)
    return known
  }
  for (const rows of leavesFrom(tree, undefined)) {
    for (const row of rows) {
      const { bucket, key, entry } = row
      if (entry.deleted) {
        if (entry.updatedAt * 1000 + tombstoneTtlMs < nowMs) collect.push(row)
        continue
      }
      const policy = policyOf(bucket)
      if (policy === undefined || entry.updatedAt * 1000 + overdueMs > nowMs) continue
      // one that ends so soon may only have been written by a clock that is behind
      if (policy.ttlMs !== undefined && entry.updatedAt * 1000 + livenessMs > nowMs) continue
      if (hasExpired(entry, holderOf(policy, key, entry), policy, { nowMs, livenessMs, isLive })) {
        expired.push({ bucket, key })
      }
    }
  }
  return { collect, expired }
}

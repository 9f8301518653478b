/** Finds what of the ledger has had its time (docs/WIRE.md 4.8): a pure look at one state. */
import type { KeyedEntry } from '../entries/entry.ts'
import { hasExpired } from './judge.ts'
import { leaderOf } from './leader.ts'
import { AVAILABLE_MS } from '../limits.ts'
import { isLiveAt, nodesWithin } from './liveness.ts'
import { type BucketPolicy, holderOf } from './policy.ts'
import type { Position } from '../state/snapshot.ts'
import { leavesFrom } from '../state/tree.ts'
import type { Tree } from '../state/tree-node.ts'

export interface ReapInit {
  readonly nowMs: number
  readonly livenessMs: number
  readonly tombstoneTtlMs: number
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
}

export interface Reapable {
  /** Tombstones that every node collects. */
  readonly collect: readonly KeyedEntry[]
  /** Entries whose owner is gone: the leader ends them. */
  readonly expired: readonly Position[]
}

export interface ElectionInit {
  readonly nowMs: number
  readonly livenessMs: number
  /** False for owners that this node keeps out: nobody would take what they end. */
  readonly admits: (owner: string) => boolean
}

/**
 * The node that ends expired entries: elected among those that are alive. Legacy members elect among the heartbeats of the
 * last 15 minutes, and while a node that has died wins there they have nobody who reaps; a living winner there wins here
 * too, so there are never two. Undefined when nobody is alive: after a suspension a node's own ledger shows everyone
 * as gone, itself too.
 */
export function reapingLeader(tree: Tree, { nowMs, livenessMs, admits }: ElectionInit): string | undefined {
  const living = nodesWithin(tree, nowMs, Math.min(livenessMs, AVAILABLE_MS))
  return leaderOf(living.filter((node) => admits(node)))
}

export function findReapable(tree: Tree, init: ReapInit): Reapable {
  const { nowMs, livenessMs, tombstoneTtlMs, policyOf } = init
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
      if (policy === undefined) continue
      if (hasExpired(entry, holderOf(policy, key, entry), policy, { nowMs, livenessMs, isLive })) {
        expired.push({ bucket, key })
      }
    }
  }
  return { collect, expired }
}

/** Who is alive, from the stored heartbeats. */
import { BUCKETS, createMemo, parseHeartbeat } from '@mesh/core'
import type { Entry } from '../entries/entry.ts'
import { leavesFrom, treeGet } from './tree.ts'
import type { Tree } from './tree-node.ts'

/** Entries never change, so a heartbeat is parsed once. */
const parsed = createMemo<Entry, number>()

/** Unix ms of an owner's heartbeat; undefined without one that can be read. */
export function heartbeatOf(tree: Tree, owner: string): number | undefined {
  const stored = treeGet(tree, { bucket: BUCKETS.healthcheck, key: owner })?.entry
  return stored === undefined || stored.deleted ? undefined : heartbeatTime(stored)
}

export function isLiveAt(tree: Tree, owner: string, nowMs: number, livenessMs: number): boolean {
  const beat = heartbeatOf(tree, owner)
  return beat !== undefined && beat + livenessMs > nowMs
}

/** Keys of the heartbeats that are younger than `windowMs`, in order. */
export function nodesWithin(tree: Tree, nowMs: number, windowMs: number): string[] {
  const found: string[] = []
  for (const rows of leavesFrom(tree, { bucket: BUCKETS.healthcheck, key: '' })) {
    for (const { bucket, key, entry } of rows) {
      if (bucket !== BUCKETS.healthcheck) return found
      const beat = entry.deleted ? undefined : heartbeatTime(entry)
      if (beat !== undefined && beat + windowMs > nowMs) found.push(key)
    }
  }
  return found
}

/** Unix ms that a heartbeat's entry says; undefined when it cannot be read. */
export function heartbeatTime(heartbeat: Entry): number | undefined {
  let time = parsed.get(heartbeat)
  if (time === undefined) {
    time = parseHeartbeat(heartbeat.value) ?? Number.NaN
    parsed.set(heartbeat, time)
  }
  return Number.isNaN(time) ? undefined : time
}

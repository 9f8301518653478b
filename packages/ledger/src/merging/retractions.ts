/**
 * Answers entries that a member still holds although they have ended. It missed a tombstone that perhaps nobody holds any
 * more, and refuses everything after it. A node that can end the entry signs a new tombstone. For all members that is the
 * owner, or the leader where the owner is gone. In a comparison any node does it, because the leader may have missed the
 * tombstone too. Members that need the answer store it.
 */
import { BoundedMap, type Clock, positionId } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import type { RejectionCode } from '../ledger.ts'
import {
  MAX_REMEMBERED_RETRACTIONS,
  MAX_RETRACTIONS_AT_ONCE,
  RETRACTION_BURST,
  RETRACTION_PAUSE_MS,
  RETRACTIONS_PER_SECOND,
} from '../limits.ts'

/** A refused entry, and what stands in its place here. */
export interface StaleEntry {
  readonly keyed: KeyedEntry
  readonly existing: Entry | undefined
  readonly code: RejectionCode
}

export interface RetractionsInit {
  readonly self: string
  readonly clock: Clock
  /** May others end entries of that owner: is it gone, or the bucket open? */
  readonly mayEnd: (bucket: string, owner: string) => boolean
  /** Is this node the leader, which ends entries for all? */
  readonly leads: () => boolean
  readonly verify: (keyed: KeyedEntry) => boolean
  readonly sign: (unsigned: KeyedEntry) => KeyedEntry
}

interface Retractions {
  /** Tombstones for whoever sent what was refused and has ended for all. */
  readonly answers: readonly KeyedEntry[]
  /** Tombstones that all members are to be told. */
  readonly news: readonly KeyedEntry[]
}

/** @param isHeldBySender true in a comparison, in which the sender shows what it holds */
export type Retract = (stale: Iterable<StaleEntry>, nowMs: number, isHeldBySender: boolean) => Retractions

/** An answer that was given, until when it is remembered, and whether all members were told. */
interface Given {
  readonly tombstone: KeyedEntry
  readonly until: number
  readonly isTold: boolean
}

export function createRetractions(init: RetractionsInit): Retract {
  const given = new BoundedMap<string, Given>(MAX_REMEMBERED_RETRACTIONS)
  // Whoever replays more than can be remembered finds that what all are told has a bound, too. What senders are answered
  // is bounded by the time that comparisons have.
  const all = createTokenBucket({ perSecond: RETRACTIONS_PER_SECOND, burst: RETRACTION_BURST }, init.clock)

  const tombstoneFor = ({ bucket, key, entry }: KeyedEntry, nowMs: number): KeyedEntry => {
    const ended: Entry = {
      value: '',
      owner: init.self,
      version: entry.version + 1n,
      updatedAt: Math.floor(nowMs / 1000),
      deleted: true,
      sig: null,
    }
    return init.sign({ bucket, key, entry: ended })
  }
  return (stale, nowMs, isHeldBySender) => {
    const answers: KeyedEntry[] = []
    const news: KeyedEntry[] = []
    const now = init.clock.monotonic()
    let checked = 0
    for (const each of stale) {
      if (!isEnded(each, init)) continue
      // of a conflict between two that live all are told, and settle it
      const isAnswered = isHeldBySender && each.code === 'REPLAYED'
      const isForAll = each.keyed.entry.owner === init.self || init.leads()
      const id = `${each.keyed.entry.version} ${positionId(each.keyed)}`
      const before = given.get(id)
      const known = before !== undefined && now < before.until ? before : undefined
      if (known !== undefined && (known.isTold || !isForAll)) {
        if (isAnswered) answers.push(known.tombstone)
        continue
      }
      if (!isAnswered && !isForAll) continue
      if (++checked > MAX_RETRACTIONS_AT_ONCE) break
      // Proven first: a forgery must neither use up what honest entries need, nor count as answered.
      if (!init.verify(each.keyed)) continue
      const isTold = isForAll && all.take()
      if (!isTold && !isAnswered) continue
      const tombstone = known?.tombstone ?? tombstoneFor(each.keyed, nowMs)
      given.set(id, { tombstone, until: now + RETRACTION_PAUSE_MS, isTold })
      if (isAnswered) answers.push(tombstone)
      if (isTold) news.push(tombstone)
    }
    return { answers, news }
  }
}

function isEnded({ keyed, existing, code }: StaleEntry, { self, mayEnd }: RetractionsInit): boolean {
  const { owner, deleted, version } = keyed.entry
  if (deleted) return false
  if (code === 'REPLAYED') return owner === self || mayEnd(keyed.bucket, owner)
  // Another holds the key after this node, or ended it for this node while it was away.
  if (code !== 'NOT_OWNER' && code !== 'RECLAIM_STALE') return false
  return owner === self && existing !== undefined && existing.owner !== self && version < existing.version
}

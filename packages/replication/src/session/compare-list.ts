/** Step 2 of a session: what a remote's list of a range lacks, and what it has beyond ours. */
import { fnv1a32 } from '@mesh/core'
import { comparePositions, type Entry, type KeyedEntry, type Position, type Snapshot } from '@mesh/ledger'
import { WALK_STEP_ENTRIES } from '../limits.ts'
import { equalBytes } from './position.ts'
import { shortHashOf } from './short-hash.ts'
import type { ListItem, RangeList } from './sync-message.ts'

export interface CompareInit {
  /** Compared as it was at the session's start, whatever is merged meanwhile. */
  readonly snapshot: Snapshot
  /** Was the entry with this hash refused here, so that it need not be asked for? */
  readonly isRefused: (hash: Uint8Array) => boolean
  /** Did the remote refuse our entry with this hash? Asked for only if need be: all of a ledger may be sent. */
  readonly isRefusedThere: (hashOf: () => Uint8Array) => boolean
  /** Is the version further ahead of this node's clock than clocks may differ? */
  readonly isAhead: (version: bigint) => boolean
}

export type Difference =
  | { readonly kind: 'want'; readonly item: ListItem }
  | { readonly kind: 'send'; readonly keyed: KeyedEntry }
  /** So many of this ledger's entries were looked at since the last step. */
  | { readonly kind: 'walked'; readonly entries: number }

/** Yields the differences in the ledger's order; lazy, as all of a large ledger may be missing there. */
export function* compareList(init: CompareInit, list: RangeList): Generator<Difference> {
  let next = 0
  let walked = 0
  for (const keyed of init.snapshot.entriesIn(list)) {
    if (++walked === WALK_STEP_ENTRIES) {
      yield { kind: 'walked', entries: walked }
      walked = 0
    }
    let theirs = list.items[next]
    for (; theirs !== undefined && comparePositions(theirs, keyed) < 0; theirs = list.items[++next]) {
      if (isWanted(init, theirs)) yield { kind: 'want', item: theirs }
    }
    if (theirs === undefined || comparePositions(theirs, keyed) > 0) {
      if (isMissed(init, keyed)) yield { kind: 'send', keyed }
      continue
    }
    next++
    yield* compareEntry(init, keyed, theirs)
  }
  yield { kind: 'walked', entries: walked }
  for (const theirs of list.items.slice(next)) {
    if (isWanted(init, theirs)) yield { kind: 'want', item: theirs }
  }
}

/** A tombstone is of use only to anyone who holds what it ends. */
function isWanted(init: CompareInit, theirs: ListItem): boolean {
  return !theirs.deleted && !init.isRefused(theirs.hash)
}

function isMissed(init: CompareInit, keyed: KeyedEntry): boolean {
  return !keyed.entry.deleted && !init.isRefusedThere(() => shortHashOf(init.snapshot, keyed))
}

/**
 * Yields what two states of one key ask for. Of these the older is of no use, as no rule takes it over the
 * newer. Only of two live entries by different owners each side is shown the other's: the two end a race or
 * conflict between themselves. So it is of two of which one is from the future: it gives way where the clock was ahead.
 */
function* compareEntry(init: CompareInit, keyed: KeyedEntry, theirs: ListItem): Generator<Difference> {
  const { entry } = keyed
  const hash = shortHashOf(init.snapshot, keyed)
  if (equalBytes(hash, theirs.hash)) return
  const isAhead = init.isAhead(entry.version) || init.isAhead(theirs.version)
  const showsBoth = isAhead || isContested(entry, theirs)
  if ((showsBoth || theirs.version >= entry.version) && !init.isRefused(theirs.hash)) {
    yield { kind: 'want', item: theirs }
  }
  if ((showsBoth || entry.version >= theirs.version) && !init.isRefusedThere(() => hash)) {
    yield { kind: 'send', keyed }
  }
}

function isContested(ours: Entry, theirs: ListItem): boolean {
  return !ours.deleted && !theirs.deleted && fnv1a32(ours.owner) !== theirs.ownerTag
}

/** True when a remote's list is in order, within its range, and names nothing twice. */
export function isOrderly(list: RangeList): boolean {
  let previous: Position | undefined = undefined
  for (const item of list.items) {
    if (list.from !== undefined && comparePositions(item, list.from) < 0) return false
    if (list.to !== undefined && comparePositions(item, list.to) >= 0) return false
    if (previous !== undefined && comparePositions(previous, item) >= 0) return false
    previous = item
  }
  return true
}

import {
  MAX_KEY_UNITS,
  MAX_BUCKET_UNITS,
  MAX_LISTS_IN_MESSAGE,
  MAX_RANGES_IN_MESSAGE,
  SHORT_HASH_BYTES,
} from '../limits.ts'
import { isRange } from './position.ts'
import type { SyncMessage } from './sync-message.ts'
import { comparePositions, type Position, type PositionRange } from '@mesh/ledger'

const FINGERPRINT_BYTES = 32

/** Are all sizes and orders as the protocol says? */
export function isWellFormed(message: SyncMessage): boolean {
  return (
    message.ranges.length <= MAX_RANGES_IN_MESSAGE &&
    message.lists.length <= MAX_LISTS_IN_MESSAGE &&
    message.ranges.every((range) => range.fingerprint.length === FINGERPRINT_BYTES) &&
    areDisjoint([...message.ranges, ...message.lists]) &&
    [...message.ranges, ...message.lists].every(({ from, to }) => isPlace(from) && isPlace(to)) &&
    message.lists.every((list) => list.items.every((item) => item.hash.length === SHORT_HASH_BYTES)) &&
    message.wants.every(isPlace) &&
    message.refused.every((refusal) => refusal.hash.length === SHORT_HASH_BYTES) &&
    (message.hello === undefined || isHello(message.hello))
  )
}

function isHello({ digest, heartbeats }: NonNullable<SyncMessage['hello']>): boolean {
  return digest.length === SHORT_HASH_BYTES && heartbeats.length === SHORT_HASH_BYTES
}

/** Bounds are entries' places, and one unit longer where a single key is meant. */
function isPlace(position: Position | undefined): boolean {
  return (
    position === undefined ||
    (position.bucket.length <= MAX_BUCKET_UNITS + 1 && position.key.length <= MAX_KEY_UNITS + 1)
  )
}

/**
 * Checks that what one message asks about and lists is asked and listed once: nobody is made to look at an
 * entry again and again.
 */
function areDisjoint(ranges: readonly PositionRange[]): boolean {
  if (!ranges.every(isRange)) return false
  const inOrder = ranges.toSorted(compareStarts)
  return inOrder.every(({ from }, at) => {
    const before = inOrder[at - 1]
    if (before === undefined) return true
    return before.to !== undefined && from !== undefined && comparePositions(before.to, from) <= 0
  })
}

function compareStarts({ from: a }: PositionRange, { from: b }: PositionRange): number {
  if (a === undefined || b === undefined) return Number(b === undefined) - Number(a === undefined)
  return comparePositions(a, b)
}

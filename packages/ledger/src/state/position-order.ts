import type { KeyedEntry } from '../entries/entry.ts'
import type { Position } from '../snapshot.ts'

/** Orders positions by bucket, then key, by UTF-16 code units. */
export function comparePositions(a: Position, b: Position): number {
  if (a.bucket !== b.bucket) return a.bucket < b.bucket ? -1 : 1
  if (a.key === b.key) return 0
  return a.key < b.key ? -1 : 1
}

/** The child whose range holds `position`: the last one that begins at or before it. */
export function childFor(firsts: readonly Position[], position: Position): number {
  let low = 1
  let high = firsts.length
  while (low < high) {
    const middle = (low + high) >> 1
    const first = firsts[middle]
    if (first !== undefined && comparePositions(first, position) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** How many rows lie before `position`. */
export function lowerBound(rows: readonly Position[], position: Position): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle]
    if (row !== undefined && comparePositions(row, position) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Sorts the oldest entries first. */
export function byAge(a: KeyedEntry, b: KeyedEntry): number {
  if (a.entry.version === b.entry.version) return comparePositions(a, b)
  return a.entry.version < b.entry.version ? -1 : 1
}

/** Keys that two live owners hold against each other: told, and never resolved by guessing. */
import { positionId } from '@mesh/core'
import { MAX_CONFLICTS } from '../limits.ts'
import type { Position } from '../snapshot.ts'

export interface Conflict extends Position {
  /** Who holds it here, then who claims it too. */
  readonly owners: readonly string[]
  /** Unix ms of the first claim against the holder. */
  readonly since: number
}

/** More claimants on one key are not told apart. */
const MAX_CLAIMANTS = 4

export function createConflicts() {
  const known = new Map<string, Conflict>()
  return {
    list: () => [...known.values()],
    has: (position: Position, claimant: string) =>
      known.get(positionId(position))?.owners.includes(claimant) === true,
    /** The new or grown conflict; undefined when it was known. */
    add({ bucket, key }: Position, holder: string, claimant: string, nowMs: number): Conflict | undefined {
      const id = positionId({ bucket, key })
      const before = known.get(id)
      const owners = before?.owners ?? [holder]
      if (owners.includes(claimant) || owners.length > MAX_CLAIMANTS) return undefined
      if (before === undefined && known.size >= MAX_CONFLICTS) return undefined
      const conflict = { bucket, key, owners: [...owners, claimant], since: before?.since ?? nowMs }
      known.set(id, conflict)
      return conflict
    },
    /** Ends those that the test says are over; returns them. */
    resolve(isOver: (conflict: Conflict) => boolean): readonly Conflict[] {
      const over = [...known].filter(([, conflict]) => isOver(conflict))
      for (const [id] of over) known.delete(id)
      return over.map(([, conflict]) => conflict)
    },
    /** The claimant let go; the conflict when that ends it. */
    letGo(position: Position, claimant: string): Conflict | undefined {
      const id = positionId(position)
      const conflict = known.get(id)
      if (conflict === undefined) return undefined
      const owners = conflict.owners.filter((owner) => owner !== claimant)
      if (owners.length > 1) {
        known.set(id, { ...conflict, owners })
        return undefined
      }
      known.delete(id)
      return conflict
    },
  }
}

/**
 * Tells whether this node's lease is young: nobody counts on it yet, so that it is given up to whoever else claims it, or was
 * given it by a person. A node that had an address before it started has no young lease, and one that lost many since
 * has none any more: keys cost nothing, and each of them may claim or ask.
 */
import type { Clock } from '@mesh/core'
import { MAX_LOST_LEASES, YOUNG_LEASE_MS } from './limits.ts'

export interface LeaseAge {
  isYoung(): boolean
  /** Must be called when an address was leased; `isKept` where it was this node's before it started. */
  leased(isKept: boolean): void
  /** Must be called when an address was lost that was leased or claimed. */
  lost(): void
}

export function createLeaseAge(clock: Pick<Clock, 'monotonic'>): LeaseAge {
  let youngUntil: number | undefined
  let losses = 0
  return {
    isYoung: () => losses < MAX_LOST_LEASES && (youngUntil === undefined || clock.monotonic() < youngUntil),
    leased(isKept) {
      youngUntil ??= isKept ? Number.NEGATIVE_INFINITY : clock.monotonic() + YOUNG_LEASE_MS
    },
    lost() {
      losses++
    },
  }
}

/** The age of an address that was this node's before it started: it is never young, and its loss counts all the same. */
export function oldLease(age: LeaseAge): LeaseAge {
  return { ...age, isYoung: () => false }
}

/**
 * Tells whether this node's lease is young. Nobody depends on a young lease yet, so the node gives it to another claimant. A
 * node that had an address before its start has no young lease. A node that lost many since then keeps the next one: keys
 * cost nothing, and each may claim.
 */
import type { Clock } from '@mesh/core'
import { MAX_LOST_LEASES, YOUNG_LEASE_MS } from './limits.ts'

export type LeaseAge = ReturnType<typeof createLeaseAge>

export function createLeaseAge(clock: Pick<Clock, 'monotonic'>) {
  let youngUntil: number | undefined
  let losses = 0
  return {
    isYoung: () => losses < MAX_LOST_LEASES && (youngUntil === undefined || clock.monotonic() < youngUntil),
    /** Must be called when an address was leased; `isKept` where it was this node's before it started. */
    leased(isKept: boolean) {
      youngUntil ??= isKept ? Number.NEGATIVE_INFINITY : clock.monotonic() + YOUNG_LEASE_MS
    },
    /** Must be called when an address was lost that was leased or claimed. */
    lost() {
      losses++
    },
  }
}

/** The age of an address that was this node's before it started: it is never young, and its loss counts all the same. */
export function oldLease(age: LeaseAge): LeaseAge {
  return { ...age, isYoung: () => false }
}

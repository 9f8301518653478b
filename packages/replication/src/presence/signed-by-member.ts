/**
 * Tells whether the author of a message is a member. A sealed text proves nothing of who brings it: whoever
 * saw it can sign it anew. What proves it is an entry that the author signed itself and that is fresh, since
 * entries come only in sealed texts of members.
 */
import { BUCKETS, type PeerId } from '@mesh/core'
import type { Entry, Ledger } from '@mesh/ledger'
import { FRESH_HEARTBEAT_MS, FRESH_USER_MS } from '../limits.ts'

/** The ledger holds a fresh entry of the author. Where nobody signs, being heard has to do. */
export function isSignedByMember(
  { ledger, author }: { readonly ledger: Pick<Ledger, 'snapshot' | 'mode'>; readonly author: PeerId },
  nowMs: number,
): boolean {
  if (ledger.mode === 'off') return true
  const snapshot = ledger.snapshot()
  const isFresh = (entry: Entry | undefined, forMs: number) =>
    entry !== undefined &&
    entry.owner === author &&
    entry.sig !== null &&
    !entry.deleted &&
    entry.updatedAt * 1000 + forMs > nowMs
  return (
    isFresh(snapshot.get(BUCKETS.healthcheck, author), FRESH_HEARTBEAT_MS) ||
    isFresh(snapshot.get(BUCKETS.users, author), FRESH_USER_MS)
  )
}

/**
 * The rules that decide whether an incoming entry replaces what is stored (docs/WIRE.md 4.5), as a pure function
 * in the order of the rules. `judgeByWire` is exactly what all networks agree on; `judge` adds our stricter rules.
 *
 * 1. the same entry again: nothing.  2. from the future, or by a gated owner: refused.  3. open buckets: newer
 * wins, ties by (owner, signature, value); what is signed must verify; unsigned only as version 0.  4. owned
 * buckets: signature, tombstone rules, owner rule, first claim, lease, version.
 */
import { BUCKETS, parseHeartbeat } from '@mesh/core'
import { MAX_FUTURE_MS } from '../limits.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { isVersionAhead } from '../entries/version.ts'
import type { RejectionCode } from '../ledger.ts'
import { type BucketPolicy, holderOf } from './policy.ts'

/** `same`: already held; `not-newer`: older than what an open bucket holds. Neither is a refusal. */
export type Verdict = 'accept' | 'same' | 'not-newer' | RejectionCode

export interface Claim {
  readonly incoming: KeyedEntry
  readonly existing: Entry | undefined
  /** The bucket's rule; undefined in an open bucket. */
  readonly policy: BucketPolicy | undefined
}

export interface Circumstances {
  readonly nowMs: number
  /** The window of absolute expiry. */
  readonly livenessMs: number
  /** True while a peer lives, by the heartbeats stored before this block. */
  readonly isLive: (owner: string) => boolean
  /** Does the signature of the incoming entry verify? Called at most once, as late as the rules allow. */
  readonly verify: () => boolean
}

export interface StricterCircumstances extends Circumstances {
  /** False for owners that a gate keeps out. */
  readonly admits: (owner: string) => boolean
  /** True for what this node writes itself: it may have to go above a version that its clock went back behind. */
  readonly acceptsFuture?: boolean
  /**
   * True for a stored entry that this node wrote while its clock was ahead, and that other members refused. It counts as the
   * oldest. Otherwise the owner's present writes would be refused until that time.
   */
  readonly isReplaceable?: (existing: Entry) => boolean
  /** The version of a collected tombstone of this key; undefined when none is remembered. */
  readonly prunedVersion: () => bigint | undefined
}

/** Our rules: the wire's, and what is stricter where that stays compatible. */
export function judge(given: Claim, at: StricterCircumstances): Verdict {
  const { incoming, policy } = given
  const { entry } = incoming
  if (given.existing !== undefined && isSameEntry(entry, given.existing)) return 'same'
  const existing = standing(given.existing, at)
  const claim: Claim = { incoming, existing, policy }
  if (!at.admits(entry.owner)) return 'GATED'
  if (at.acceptsFuture !== true && isFromFuture(incoming, at.nowMs)) return 'FUTURE'
  if (existing === undefined) {
    const prunedVersion = at.prunedVersion()
    if (prunedVersion !== undefined && entry.version <= prunedVersion && !entry.deleted) return 'REPLAYED'
  } else if (policy !== undefined && entry.owner === existing.owner && entry.version < existing.version) {
    // An old entry of the same owner, as every whole ledger from a lagging member holds: not worth a verification. Is it
    // the stored one whose time is wrong, or this node's clock, that ends.
    return isVersionAhead(existing.version, at.nowMs) ? 'FUTURE' : staleCode(entry, existing)
  }
  return policy === undefined ? judgeOpen(claim, at) : judgeByWire(claim, at)
}

/** Gives a stored entry as rules see it: one that may be replaced counts as the oldest. */
export function standing(
  existing: Entry | undefined,
  { isReplaceable }: Pick<StricterCircumstances, 'isReplaceable'>,
): Entry | undefined {
  return existing !== undefined && isReplaceable?.(existing) === true
    ? { ...existing, version: 0n }
    : existing
}

/** Exactly the rules of legacy members in mode `enforce`. */
export function judgeByWire(claim: Claim, at: Circumstances): Verdict {
  const { incoming, existing, policy } = claim
  const { entry, key } = incoming
  if (existing !== undefined && isSameEntry(entry, existing)) return 'same'
  if (policy === undefined) {
    return existing === undefined || entry.version > existing.version ? 'accept' : 'not-newer'
  }
  if (!at.verify()) return isUnsigned(entry) ? 'UNSIGNED' : 'BAD_SIG'
  if (entry.deleted) return judgeTombstone(claim, at)
  if (policy.ownerOf !== undefined && policy.ownerOf(key, entry.value) !== entry.owner)
    return 'OWNER_MISMATCH'
  if (existing === undefined) return 'accept'
  if (existing.deleted) return entry.version > existing.version ? 'accept' : 'RECLAIM_STALE'
  if (isHeldByOther(claim, at)) return 'NOT_OWNER'
  if (entry.version < existing.version) return 'ROLLBACK'
  if (entry.version === existing.version && !winsTie(entry, existing)) return 'TIE_LOST'
  return 'accept'
}

function judgeTombstone(claim: Claim, at: Circumstances): Verdict {
  const { incoming, existing } = claim
  if (existing === undefined) return 'TOMB_UNKNOWN'
  if (isHeldByOther(claim, at)) return 'TOMB_NOT_OWNER'
  return incoming.entry.version <= existing.version ? 'TOMB_STALE' : 'accept'
}

/** Stricter than the wire: a signature must verify, and ties end the same on all nodes. */
function judgeOpen({ incoming, existing }: Claim, at: Circumstances): Verdict {
  const { entry } = incoming
  const newer =
    existing === undefined ||
    entry.version > existing.version ||
    (entry.version === existing.version && winsTie(entry, existing))
  if (!newer) return 'not-newer'
  if (isUnsigned(entry)) return 'accept'
  if (!at.verify()) return 'BAD_SIG'
  return entry.deleted && existing === undefined ? 'TOMB_UNKNOWN' : 'accept'
}

/** True for a bare value, as members write it that sign nothing. */
function isUnsigned({ owner, sig, version, deleted }: Entry): boolean {
  return owner === '' && sig === null && version === 0n && !deleted
}

/** True when the stored entry belongs to somebody else whose hold on it has not ended. */
function isHeldByOther({ incoming, existing, policy }: Claim, at: Circumstances): boolean {
  if (existing === undefined || policy === undefined) return false
  const holder = holderOf(policy, incoming.key, existing)
  return incoming.entry.owner !== holder && !hasExpired(existing, holder, policy, at)
}

/** True when others may take a stored entry. */
export function hasExpired(
  entry: Entry,
  holder: string,
  policy: BucketPolicy,
  at: Pick<Circumstances, 'nowMs' | 'livenessMs' | 'isLive'>,
): boolean {
  switch (policy.expiry) {
    case 'absolute':
      return entry.updatedAt * 1000 + (policy.ttlMs?.(entry.value) ?? at.livenessMs) < at.nowMs
    case 'liveness':
      return !at.isLive(holder)
    case 'never':
      return false
  }
}

export function isSameEntry(a: Entry, b: Entry): boolean {
  return (
    a.version === b.version &&
    a.updatedAt === b.updatedAt &&
    a.deleted === b.deleted &&
    a.owner === b.owner &&
    a.value === b.value &&
    compareSigs(a.sig, b.sig) === 0
  )
}

/**
 * Decides between two entries with one version: the greater owner text, then the greater signature, then the
 * greater Value.
 */
export function winsTie(entry: Entry, existing: Entry): boolean {
  if (entry.owner !== existing.owner) return entry.owner > existing.owner
  const bySig = compareSigs(entry.sig, existing.sig)
  return bySig === 0 ? entry.value > existing.value : bySig > 0
}

/** Further ahead than clocks may differ: its version, its `UpdatedAt` or, for a heartbeat, its time. */
function isFromFuture({ bucket, entry }: KeyedEntry, nowMs: number): boolean {
  const most = nowMs + MAX_FUTURE_MS
  if (isVersionAhead(entry.version, nowMs) || entry.updatedAt * 1000 > most) return true
  if (bucket !== BUCKETS.healthcheck || entry.deleted) return false
  return (parseHeartbeat(entry.value) ?? 0) > most
}

function staleCode(entry: Entry, existing: Entry): RejectionCode {
  if (entry.deleted) return 'TOMB_STALE'
  return existing.deleted ? 'RECLAIM_STALE' : 'ROLLBACK'
}

function compareSigs(a: Uint8Array | null, b: Uint8Array | null): number {
  const length = Math.min(a?.length ?? 0, b?.length ?? 0)
  for (let at = 0; at < length; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0)
    if (difference !== 0) return difference
  }
  return (a?.length ?? 0) - (b?.length ?? 0)
}

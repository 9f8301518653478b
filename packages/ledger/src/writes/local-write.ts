/**
 * Turns a write of this node into what it becomes: a signed entry, nothing, or the reason why it is refused.
 */
import { MeshError } from '@mesh/core'
import { canonicalBytes } from '../entries/canonical.ts'
import { utf8Length } from '../entries/utf8-length.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { type Claim, hasExpired, judge, standing, type Verdict } from '../rules/judge.ts'
import type { LedgerErrorCode, OwnershipMode } from '../ledger.ts'
import { MAX_BUCKET_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES } from '../limits.ts'
import { heartbeatOf, isLiveAt } from '../state/liveness.ts'
import { type BucketPolicy, holderOf } from '../rules/policy.ts'
import type { Signer } from '../entries/signer.ts'
import type { Position } from '../snapshot.ts'
import type { Tree } from '../state/tree-node.ts'
import { nanoseconds, taggedVersionAfter, versionTag } from '../entries/version.ts'

export interface LocalWriterInit {
  readonly mode: OwnershipMode
  readonly signer: Signer
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly livenessMs: number
  /** May a lower version take this entry's place: is it from when this node's clock was ahead? */
  readonly isReplaceable: (existing: Entry) => boolean
}

export interface LocalWrite {
  readonly position: Position
  /** JSON text; undefined deletes. */
  readonly value: string | undefined
  readonly above?: bigint
}

/** The stored entry and the circumstances that a write meets. */
interface Ground {
  readonly existing: Entry | undefined
  /** The version of a collected tombstone of the key: others remember it too. */
  readonly prunedVersion: bigint | undefined
  readonly tree: Tree
  readonly nowMs: number
}

export function createLocalWriter(init: LocalWriterInit) {
  const { mode, signer, policyOf, livenessMs } = init
  const self = signer.peerId
  const tag = versionTag(self)
  const draft = (
    { position, value, above }: LocalWrite,
    { existing, prunedVersion, nowMs }: Ground,
  ): KeyedEntry => {
    const previous = standing(existing, init)?.version ?? prunedVersion ?? 0n
    const floor = above !== undefined && above > previous ? above : previous
    const entry: Entry = {
      value: value ?? '',
      owner: self,
      version: taggedVersionAfter(floor, nanoseconds(nowMs), tag),
      updatedAt: Math.floor(nowMs / 1000),
      deleted: value === undefined,
      sig: null,
    }
    return { bucket: position.bucket, key: position.key, entry }
  }
  return {
    /** @throws MeshError when the write can never be right: sizes, no JSON */
    checkForm({ position, value }: LocalWrite) {
      checkSize('bucket', position.bucket, MAX_BUCKET_BYTES)
      checkSize('key', position.key, MAX_KEY_BYTES)
      if (value === undefined) return
      checkSize('value', value, MAX_VALUE_BYTES)
      checkJson(value)
    },
    /** Nothing would change: the same live value by this node, or a delete of what is not there. */
    changesNothing({ value, above }: LocalWrite, existing: Entry | undefined): boolean {
      if (existing !== undefined && init.isReplaceable(existing)) return false
      if (value === undefined) return existing === undefined || existing.deleted
      if (existing === undefined || existing.deleted || above !== undefined) return false
      return (
        existing.value === value && (mode === 'off' || (existing.owner === self && existing.sig !== null))
      )
    },
    /** Why the rules refuse it now; undefined when they do not. */
    refusal(write: LocalWrite, ground: Ground): MeshError<LedgerErrorCode> | undefined {
      if (mode !== 'enforce') return undefined
      const incoming = draft(write, ground)
      const policy = policyOf(incoming.bucket)
      const claim: Claim = { incoming, existing: standing(ground.existing, init), policy }
      const verdict = judge(claim, {
        nowMs: ground.nowMs,
        livenessMs,
        isLive: (owner) => isLiveAt(ground.tree, owner, ground.nowMs, livenessMs),
        verify: () => true,
        admits: () => true,
        acceptsFuture: true,
        prunedVersion: () => undefined,
      })
      return verdict === 'accept' ? undefined : explain(verdict, claim, { ...ground, livenessMs })
    },
    /** The entry to store, signed unless ownership is off. */
    build(write: LocalWrite, ground: Ground): KeyedEntry {
      const unsigned = draft(write, ground)
      if (mode === 'off') {
        return { ...unsigned, entry: { ...unsigned.entry, owner: '', version: 0n, updatedAt: 0 } }
      }
      return signEntry(unsigned, signer)
    },
  }
}

export type LocalWriter = ReturnType<typeof createLocalWriter>

/** The entry with its signer's signature. */
export function signEntry(unsigned: KeyedEntry, signer: Signer): KeyedEntry {
  return { ...unsigned, entry: { ...unsigned.entry, sig: signer.sign(canonicalBytes(unsigned)) } }
}

function checkSize(field: string, text: string, most: number): void {
  if (!text.isWellFormed()) {
    throw new MeshError<LedgerErrorCode>('ledger.bad_value', `the ${field} is not valid Unicode`, {
      issues: [{ field, expected: 'text without lone surrogates' }],
    })
  }
  const size = utf8Length(text)
  if (size <= most) return
  throw new MeshError<LedgerErrorCode>(
    'ledger.too_large',
    `the ${field} has ${size} bytes, at most ${most} are allowed`,
    {
      issues: [{ field, value: `${size} bytes`, expected: `at most ${most} bytes` }],
      details: { field, size, limit: most },
    },
  )
}

function checkJson(value: string): void {
  try {
    JSON.parse(value)
  } catch (cause) {
    throw new MeshError<LedgerErrorCode>('ledger.bad_value', 'the value is not JSON', {
      hint: 'A value is JSON text: a string needs its quotes.',
      issues: [{ field: 'value', value: value.slice(0, 80), expected: 'JSON text' }],
      cause,
    })
  }
}

interface Explained extends Ground {
  readonly livenessMs: number
}

function explain(verdict: Verdict, claim: Claim, at: Explained): MeshError<LedgerErrorCode> {
  const { incoming, policy } = claim
  const { bucket, key, entry } = incoming
  const place = `${bucket}/${key}`
  const holder = liveHolder(claim, at)
  const isRefusedByOwner = verdict === 'NOT_OWNER' || verdict === 'TOMB_NOT_OWNER'
  if (isRefusedByOwner || (verdict === 'OWNER_MISMATCH' && holder !== undefined && holder !== entry.owner)) {
    const owner = holder ?? ''
    const leaseEndsAt = leaseEnd(claim, owner, at)
    const until = leaseEndsAt === undefined ? '' : ` until ${new Date(leaseEndsAt).toISOString()}`
    return new MeshError('ledger.not_owner', `${place} belongs to ${owner}${until}`, {
      hint: 'Ask its owner to delete it, or wait until its lease ends.',
      details: { bucket, key, owner, leaseEndsAt },
    })
  }
  if (verdict === 'OWNER_MISMATCH') {
    const named = policy?.ownerOf?.(key, entry.value) ?? ''
    return new MeshError(
      'ledger.not_owner',
      `${place} must name this node, not ${named === '' ? 'nobody' : named}`,
      {
        hint: `Entries of ${bucket} are written by the node that they are about.`,
        // A free key has an owner only where the key itself says so: whom the refused value names owns nothing.
        details: { bucket, key, owner: holder ?? policy?.ownerOf?.(key, '') ?? '' },
      },
    )
  }
  return new MeshError('ledger.bad_value', `${place} cannot be written now: ${verdict}`, {
    hint: 'Its stored version is ahead of the clock. Check the time on this machine.',
    details: { bucket, key, code: verdict },
  })
}

/** Who holds the key now: undefined when it is free, or its owner is gone. */
function liveHolder({ incoming, existing, policy }: Claim, at: Explained): string | undefined {
  if (existing === undefined || existing.deleted || policy === undefined) return undefined
  const { nowMs, livenessMs, tree } = at
  const holder = holderOf(policy, incoming.key, existing)
  const isLive = (owner: string) => isLiveAt(tree, owner, nowMs, livenessMs)
  return hasExpired(existing, holder, policy, { nowMs, livenessMs, isLive }) ? undefined : holder
}

/** Unix ms; moves on with each heartbeat of the owner. */
function leaseEnd({ existing, policy }: Claim, owner: string, at: Explained): number | undefined {
  switch (policy?.expiry) {
    case 'absolute':
      return existing && existing.updatedAt * 1000 + (policy.ttlMs?.(existing.value) ?? at.livenessMs)
    case 'liveness': {
      const beat = heartbeatOf(at.tree, owner)
      return beat === undefined ? undefined : beat + at.livenessMs
    }
    case 'never':
    case undefined:
      return undefined
  }
}

/** One entry against the ledger: its verdict, and whether it is stored (in mode `observe` refusals may be). */
import type { PeerId } from '@mesh/core'
import { canonicalBytes } from './canonical.ts'
import type { KeyedEntry } from './entry.ts'
import { type Claim, isVerifiable, judge, type Verdict, winsTie } from './judge.ts'
import type { OwnershipMode, RejectionCode } from './ledger.ts'
import type { LedgerState, StateEdit } from './ledger-state.ts'
import { isLiveAt } from './liveness.ts'
import type { BucketPolicy } from './policy.ts'
import type { Verify } from './signer.ts'
import type { Tree } from './tree.ts'

export interface AdmissionInit {
  readonly mode: OwnershipMode
  readonly state: LedgerState
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly livenessMs: number
  readonly verify: Verify
  readonly admits: (owner: string) => boolean
}

/** Where and when an entry is judged. */
export interface Occasion {
  readonly edit: StateEdit
  /** The ledger before this block: its heartbeats decide who is alive. */
  readonly health: Tree
  readonly nowMs: number
}

export interface Admission {
  readonly verdict: Verdict
  readonly stored: boolean
}

export type Admit = (keyed: KeyedEntry, occasion: Occasion) => Admission

/** What `observe` stores although ownership forbids it: all that is no rollback and breaks no bound. */
const OBSERVED: ReadonlySet<Verdict> = new Set<RejectionCode>([
  'BAD_SIG',
  'TOMB_UNKNOWN',
  'TOMB_NOT_OWNER',
  'OWNER_MISMATCH',
  'NOT_OWNER',
])

export function createAdmission(init: AdmissionInit): Admit {
  const { state, livenessMs } = init
  const verify = (keyed: KeyedEntry) =>
    isVerifiable(keyed.entry) &&
    keyed.entry.sig !== null &&
    init.verify(keyed.entry.owner as PeerId, canonicalBytes(keyed), keyed.entry.sig)
  return (incoming, { edit, health, nowMs }) => {
    const before = edit.get(incoming)
    const claim: Claim = { incoming, existing: before?.entry, policy: init.policyOf(incoming.bucket) }
    const verdict = judge(claim, {
      nowMs,
      livenessMs,
      isLive: (owner) => isLiveAt(health, owner, nowMs, livenessMs),
      verify: () => verify(incoming),
      admits: init.admits,
      buried: () => state.burials.versionOf(incoming),
    })
    const stores = verdict === 'accept' || (init.mode === 'observe' && isObserved(verdict, claim))
    if (!stores) return { verdict, stored: false }
    if (!state.quota.admits(incoming, before)) return { verdict: 'QUOTA', stored: false }
    edit.put(incoming)
    return { verdict, stored: true }
  }
}

function isObserved(verdict: Verdict, { incoming: { entry }, existing }: Claim): boolean {
  if (!OBSERVED.has(verdict)) return false
  if (existing === undefined || entry.version > existing.version) return true
  return entry.version === existing.version && winsTie(entry, existing)
}

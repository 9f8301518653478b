/** One entry against the ledger: its verdict, and whether it is stored (in mode `observe` refusals may be). */
import { BoundedMap, type PeerId, tryParsePeerId } from '@mesh/core'
import { canonicalBytes } from '../entries/canonical.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { checkBounds } from '../entries/entry-bounds.ts'
import { type Claim, judge, type Verdict, winsTie } from './judge.ts'
import type { OwnershipMode, RejectionCode } from '../ledger.ts'
import type { LedgerState, StateEdit } from '../state/ledger-state.ts'
import { putWithinQuota } from '../state/put-within-quota.ts'
import { MAX_CACHED_KEYS, SIGNATURE_BYTES } from '../limits.ts'
import { isFounded, surplusOf } from './entry-groups.ts'
import { isLiveAt } from '../state/liveness.ts'
import type { BucketPolicy } from './policy.ts'
import type { Verify } from '../entries/signer.ts'
import type { Tree } from '../state/tree-node.ts'

export interface AdmissionInit {
  readonly self: string
  readonly mode: OwnershipMode
  readonly state: LedgerState
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly livenessMs: number
  readonly verify: Verify
  readonly admits: (owner: string, bucket: string, held?: KeyedEntry) => boolean
  /** True for a stored entry from when this node's clock was ahead. */
  readonly isReplaceable: (existing: Entry) => boolean
}

/** Where and when an entry is judged. */
interface Occasion {
  readonly edit: StateEdit
  /** True in a comparison with a member, which shows what it holds; else the entry came from whoever speaks. */
  readonly isHeldBySender: boolean
  /** The ledger before this block: its heartbeats decide who is alive. */
  readonly health: Tree
  readonly nowMs: number
}

/** Puts the entry into the edit where it is to be stored. */
export type Admit = (keyed: KeyedEntry, occasion: Occasion) => Verdict

/** Tells what `observe` stores although ownership forbids it: all that is no rollback and breaks no bound. */
const OBSERVED: ReadonlySet<Verdict> = new Set<RejectionCode>([
  'BAD_SIG',
  'UNSIGNED',
  'TOMB_UNKNOWN',
  'TOMB_NOT_OWNER',
  'OWNER_MISMATCH',
  'NOT_OWNER',
])

export function createAdmission(init: AdmissionInit): Admit {
  const { state, livenessMs } = init
  const peerOf = createPeerCache()
  const verify = (keyed: KeyedEntry) => verifyEntry(keyed, init.verify, peerOf)
  return (incoming, { edit, isHeldBySender, health, nowMs }) => {
    const unfit = checkBounds(incoming)
    if (unfit !== undefined) return unfit
    const before = edit.get(incoming)
    const policy = init.policyOf(incoming.bucket)
    const group = before === undefined ? policy?.groupOf?.(incoming.key) : undefined
    if (group !== undefined && !isFounded(edit, incoming, group)) return 'NOT_YET'
    const isVoid = before !== undefined && policy?.isValid?.(before) === false
    const claim: Claim = { incoming, existing: isVoid ? undefined : before?.entry, policy }
    const verdict = judge(claim, {
      nowMs,
      livenessMs,
      isLive: (owner) => isLiveAt(health, owner, nowMs, livenessMs),
      verify: () => verify(incoming),
      admits: (owner) => init.admits(owner, incoming.bucket, isHeldBySender ? incoming : undefined),
      isReplaceable: init.isReplaceable,
      prunedVersion: () => state.pruned.versionOf(incoming),
    })
    const stores = verdict === 'accept' || (init.mode === 'observe' && isObserved(verdict, claim))
    if (!stores) return verdict
    const surplus = group === undefined ? [] : surplusOf(edit, incoming, group)
    if (surplus.includes(incoming)) return 'QUOTA'
    if (!putWithinQuota(edit, incoming, state.quota)) return 'QUOTA'
    for (const row of surplus) edit.forget(row)
    return verdict
  }
}

/** Refuses what cannot be right before it costs cryptography. */
export function verifyEntry(
  keyed: KeyedEntry,
  verify: Verify,
  peerOf: (owner: string) => PeerId | undefined = tryParsePeerId,
): boolean {
  const { owner, sig } = keyed.entry
  if (sig === null || sig.length !== SIGNATURE_BYTES) return false
  const peer = peerOf(owner)
  return peer !== undefined && verify(peer, canonicalBytes(keyed), sig)
}

/** Reading a peer id takes a quarter of the time that verifying a signature takes. */
function createPeerCache(): (owner: string) => PeerId | undefined {
  const known = new BoundedMap<string, PeerId>(MAX_CACHED_KEYS)
  return (owner) => {
    const peer = known.get(owner) ?? tryParsePeerId(owner)
    if (peer !== undefined) known.set(owner, peer)
    return peer
  }
}

function isObserved(verdict: Verdict, { incoming: { entry }, existing }: Claim): boolean {
  if (!OBSERVED.has(verdict)) return false
  if (existing === undefined || entry.version > existing.version) return true
  return entry.version === existing.version && winsTie(entry, existing)
}

/**
 * Takes entries of others.
 *
 * 1. Judges each entry.
 * 2. Commits the accepted ones as one block.
 * 3. Reports what changed and what was refused.
 * 4. Reacts to claims on this node's entries, and to entries that have ended.
 */
import { BUCKETS, type PeerId } from '@mesh/core'
import type { Admit } from '../rules/admission.ts'
import type { Verdict } from '../rules/judge.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import type { Change, MergeResult } from '../ledger.ts'
import type { LedgerEvents } from '../ledger-events.ts'
import type { LedgerState, StateEdit } from '../state/ledger-state.ts'
import { isLiveAt } from '../state/liveness.ts'
import { type BucketPolicy, holderOf } from '../rules/policy.ts'
import type { ClaimAnswers } from './claim-answers.ts'
import type { Conflict } from './conflicts.ts'
import type { Retract, StaleEntry } from './retractions.ts'
import type { Reaction, OwnershipRaces } from './ownership-races.ts'
import type { Tree } from '../state/tree-node.ts'
import { evictions } from '../writes/write-committer.ts'
import type { WriteQueue } from '../writes/write-queue.ts'

export interface EntryMergerInit {
  readonly self: PeerId
  readonly livenessMs: number
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly state: LedgerState
  readonly now: () => number
  readonly admit: Admit
  /** False when the store would not take it. */
  readonly commit: (edit: StateEdit, changes: readonly Change[]) => boolean
  readonly events: LedgerEvents
  readonly races: OwnershipRaces
  readonly answers: Pick<ClaimAnswers, 'answer'>
  readonly queue: WriteQueue
  readonly retract: Retract
  /** Told of every heartbeat that its owner sent itself. */
  readonly onHeartbeat: (heartbeat: KeyedEntry, verdict: Verdict) => void
}

/** Where entries come from. */
export interface MergeSource {
  readonly author: PeerId | undefined
  /** The ledger whose heartbeats decide: the one before the block began. */
  readonly health: Tree
  /** True in a comparison with a member, which shows what it holds. */
  readonly isHeldBySender: boolean
}

export class EntryMerger {
  readonly #init: EntryMergerInit

  constructor(init: EntryMergerInit) {
    this.#init = init
  }

  merge(entries: Iterable<KeyedEntry>, { author, health, isHeldBySender }: MergeSource): MergeResult {
    const { state, events, admit, commit, retract, now } = this.#init
    const edit = state.edit()
    const refusals: StaleEntry[] = []
    let unchanged = 0
    for (const keyed of entries) {
      const before = edit.get(keyed)
      const verdict = admit(keyed, { edit, isHeldBySender, health, nowMs: now() })
      if (keyed.bucket === BUCKETS.healthcheck && author !== undefined && keyed.entry.owner === author) {
        this.#init.onHeartbeat(keyed, verdict)
      }
      if (verdict === 'same' || verdict === 'not-newer') unchanged++
      else if (verdict !== 'accept') refusals.push({ keyed, existing: before?.entry, code: verdict })
    }
    const list: Change[] = []
    for (const { row, before } of edit.puts()) list.push(toChange(row, before?.entry))
    const accepted = commit(edit, [...list, ...evictions(edit)]) ? list.length : 0
    for (const { keyed, code } of refusals) events.reject(keyed, code, author)
    if (accepted > 0) this.#tellLosses(list)
    for (const refusal of refusals) this.#react(refusal)
    const { answers, news } = retract(refusals, now(), isHeldBySender)
    if (news.length > 0) events.emit({ type: 'retracted', entries: news })
    const result = { accepted, unchanged, rejected: refusals.map(toRejection) }
    return answers.length === 0 ? result : { ...result, retracted: answers }
  }

  /** This node's lease had ended, and a key of its is another's now. */
  #tellLosses(changes: readonly Change[]): void {
    for (const { bucket, key, entry, previous } of changes) {
      const policy = this.#init.policyOf(bucket)
      if (policy === undefined || previous === undefined || previous.deleted || entry.deleted) continue
      if (holderOf(policy, key, previous) !== this.#init.self || entry.owner === this.#init.self) continue
      this.#init.events.emit({ type: 'yielded', bucket, key, to: entry.owner })
    }
  }

  /** Only claims that were good but for the holder are a matter between two owners. */
  #react({ keyed, existing, code }: StaleEntry): void {
    const policy = this.#init.policyOf(keyed.bucket)
    if (existing === undefined || policy === undefined) return
    if (code !== 'NOT_OWNER' && code !== 'TOMB_NOT_OWNER') return
    const nowMs = this.#init.now()
    const isLive = (owner: string) => isLiveAt(this.#init.state.tree, owner, nowMs, this.#init.livenessMs)
    const holder = holderOf(policy, keyed.key, existing)
    const reaction = this.#init.races.reactTo({
      incoming: keyed,
      existing,
      holder,
      holderIsLive: isLive(holder),
      claimantIsLive: isLive(keyed.entry.owner),
      yields: policy.yields,
      nowMs,
    })
    this.#carryOut(reaction, keyed, existing)
  }

  #carryOut(reaction: Reaction, { bucket, key, entry }: KeyedEntry, existing: Entry): void {
    const position = { bucket, key }
    switch (reaction.type) {
      case 'none':
        return
      case 'yield':
        void this.#init.queue.submit({ position, value: undefined, above: reaction.above })
        this.#init.events.emit({ type: 'yielded', bucket, key, to: entry.owner })
        return
      case 'announce': {
        const pending = this.#init.queue.pending(position)
        if (pending === undefined) {
          void this.#init.queue.submit({ position, value: existing.value, above: reaction.above })
        } else if (pending.value !== undefined) pending.above = reaction.above
        if (reaction.resolved !== undefined) this.#tellConflict(reaction.resolved, true)
        return
      }
      case 'answer':
        return this.#init.answers.answer(position)
      case 'conflict':
        if (reaction.answers) this.#init.answers.answer(position)
        return this.#tellConflict(reaction.conflict, false)
      case 'resolved':
        return this.#tellConflict(reaction.conflict, true)
    }
  }

  #tellConflict({ bucket, key, owners }: Conflict, resolved: boolean): void {
    this.#init.events.emit({ type: 'conflict', bucket, key, owners, resolved })
  }
}

function toChange({ bucket, key, entry }: KeyedEntry, previous: Entry | undefined): Change {
  return { bucket, key, entry, previous, origin: 'remote' }
}

function toRejection({ keyed: { bucket, key }, code }: StaleEntry) {
  return { bucket, key, code }
}

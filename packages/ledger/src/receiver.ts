/**
 * Takes entries of others: 1 judge each, 2 one block of what is accepted, 3 tell what changed and what was refused,
 * 4 react to claims on what this node holds, and to entries that have been ended.
 */
import type { PeerId } from '@mesh/core'
import type { Admit } from './admission.ts'
import type { Entry, KeyedEntry } from './entry.ts'
import type { Change, MergeResult } from './ledger.ts'
import type { LedgerEvents } from './ledger-events.ts'
import type { LedgerState, StateEdit } from './ledger-state.ts'
import { isLiveAt } from './liveness.ts'
import { type BucketPolicy, holderOf } from './policy.ts'
import type { Retract, StaleEntry } from './retractions.ts'
import type { Reaction, Rivalry } from './rivalry.ts'
import type { Tree } from './tree.ts'
import type { WriteQueue } from './write-queue.ts'

export interface ReceiverInit {
  readonly self: PeerId
  readonly livenessMs: number
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly state: LedgerState
  readonly now: () => number
  readonly admit: Admit
  /** False when the store would not take it. */
  readonly commit: (edit: StateEdit, changes: readonly Change[]) => boolean
  readonly events: LedgerEvents
  readonly rivalry: Rivalry
  readonly queue: WriteQueue
  readonly retract: Retract
}

export interface Receiver {
  /** @param health the ledger whose heartbeats decide: the one before the block began */
  take(entries: Iterable<KeyedEntry>, author: PeerId | undefined, health: Tree): MergeResult
}

export function createReceiver(init: ReceiverInit): Receiver {
  const { self, state, events, rivalry, queue, policyOf } = init

  const take = (entries: Iterable<KeyedEntry>, author: PeerId | undefined, health: Tree): MergeResult => {
    const edit = state.edit()
    const refusals: StaleEntry[] = []
    let unchanged = 0
    for (const keyed of entries) {
      const before = edit.get(keyed)
      const verdict = init.admit(keyed, { edit, health, nowMs: init.now() })
      if (verdict === 'same' || verdict === 'not-newer') unchanged++
      else if (verdict !== 'accept') refusals.push({ keyed, existing: before?.entry, code: verdict })
    }
    const list: Change[] = []
    for (const { row, before } of edit.puts()) list.push(toChange(row, before?.entry))
    const accepted = init.commit(edit, list) ? list.length : 0
    for (const { keyed, code } of refusals) events.reject(keyed, code, author)
    if (accepted > 0) tellLosses(list)
    for (const refusal of refusals) react(refusal)
    const retracted = init.retract(refusals, init.now())
    if (retracted.length > 0) events.emit({ type: 'retracted', entries: retracted })
    return { accepted, unchanged, rejected: refusals.map(toRejection) }
  }

  /** This node's lease had ended, and a key of its is another's now. */
  const tellLosses = (changes: readonly Change[]) => {
    for (const { bucket, key, entry, previous } of changes) {
      const policy = policyOf(bucket)
      if (policy === undefined || previous === undefined || previous.deleted || entry.deleted) continue
      if (holderOf(policy, key, previous) !== self || entry.owner === self) continue
      events.emit({ type: 'yielded', bucket, key, to: entry.owner })
    }
  }

  /** Only claims that were good but for the holder are a matter between two owners. */
  const react = ({ keyed, existing, code }: StaleEntry) => {
    const policy = policyOf(keyed.bucket)
    if (existing === undefined || policy === undefined) return
    if (code !== 'NOT_OWNER' && code !== 'TOMB_NOT_OWNER') return
    const nowMs = init.now()
    const isLive = (owner: string) => isLiveAt(state.tree, owner, nowMs, init.livenessMs)
    const holder = holderOf(policy, keyed.key, existing)
    const reaction = rivalry.reactTo({
      incoming: keyed,
      existing,
      holder,
      holderIsLive: isLive(holder),
      claimantIsLive: isLive(keyed.entry.owner),
      yields: policy.yields,
      nowMs,
    })
    carryOut(reaction, keyed, existing)
  }

  const carryOut = (reaction: Reaction, { bucket, key, entry }: KeyedEntry, existing: Entry) => {
    const position = { bucket, key }
    switch (reaction.type) {
      case 'none':
        return
      case 'yield':
        void queue.submit({ position, value: undefined, above: reaction.above })
        events.emit({ type: 'yielded', bucket, key, to: entry.owner })
        return
      case 'announce': {
        const pending = queue.pending(position)
        if (pending === undefined) {
          void queue.submit({ position, value: existing.value, above: reaction.above })
        } else if (pending.value !== undefined) pending.above = reaction.above
        if (reaction.resolved !== undefined) tellConflict(reaction.resolved, true)
        return
      }
      case 'conflict':
        return tellConflict(reaction.conflict, false)
      case 'resolved':
        return tellConflict(reaction.conflict, true)
    }
  }

  const tellConflict = (
    { bucket, key, owners }: { bucket: string; key: string; owners: readonly string[] },
    resolved: boolean,
  ) => events.emit({ type: 'conflict', bucket, key, owners, resolved })

  return { take }
}

function toChange({ bucket, key, entry }: KeyedEntry, previous: Entry | undefined): Change {
  return { bucket, key, entry, previous, origin: 'remote' }
}

function toRejection({ keyed: { bucket, key }, code }: StaleEntry) {
  return { bucket, key, code }
}

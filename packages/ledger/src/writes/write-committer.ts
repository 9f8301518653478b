/** Makes blocks of local writes: each is judged once more against what the block holds by then, signed and applied. */
import type { MeshError, PeerId } from '@mesh/core'
import { asRemoved, type KeyedEntry } from '../entries/entry.ts'
import type { Change, LedgerErrorCode, OwnershipMode, WriteOutcome } from '../ledger.ts'
import { overQuota } from '../ledger-errors.ts'
import type { BucketPolicy } from '../rules/policy.ts'
import type { LedgerState, StateEdit } from '../state/ledger-state.ts'
import { putWithinQuota } from '../state/put-within-quota.ts'
import type { LocalWriter } from './local-write.ts'
import type { PendingWrite } from './write-queue.ts'

export interface WriteCommitterInit {
  readonly self: PeerId
  readonly mode: OwnershipMode
  readonly state: LedgerState
  readonly writer: LocalWriter
  /** Told of each key that this node did not hold before. */
  readonly races: { claimed(row: KeyedEntry, version: bigint): void }
  readonly policyOf: (bucket: string) => BucketPolicy | undefined
  readonly now: () => number
  /** Makes the edit a block; the failure when the store would not take it. */
  readonly commit: (edit: StateEdit, changes: readonly Change[]) => MeshError<LedgerErrorCode> | undefined
}

/** Makes one block of the writes, and tells each what became of it. */
export type CommitWrites = (writes: Iterable<PendingWrite>) => void

export function createWriteCommitter(init: WriteCommitterInit): CommitWrites {
  return (writes) => {
    const edit = init.state.edit()
    const changes: Change[] = []
    const applied: PendingWrite[] = []
    for (const write of writes) {
      const outcome = applyWrite(init, write, { edit, changes })
      if (outcome === undefined) applied.push(write)
      else write.resolve(outcome)
    }
    const failure = init.commit(edit, [...changes, ...evictions(edit)])
    const block = init.state.head.index
    for (const { resolve } of applied) {
      resolve(failure === undefined ? { state: 'committed', block } : { state: 'refused', error: failure })
    }
  }
}

/** Undefined when the write is part of the block; else what became of it. */
function applyWrite(
  init: WriteCommitterInit,
  write: PendingWrite,
  { edit, changes }: { readonly edit: StateEdit; readonly changes: Change[] },
): WriteOutcome | undefined {
  const { state, writer, mode } = init
  const before = edit.get(write.position)
  const nowMs = init.now()
  const prunedVersion = state.pruned.versionOf(write.position)
  const ground = { existing: before?.entry, prunedVersion, tree: edit.tree, nowMs }
  if (writer.changesNothing(write, before?.entry)) return undefined
  const refusal = writer.refusal(write, ground)
  if (refusal !== undefined) return { state: 'refused', error: refusal }
  const row = writer.build(write, ground)
  if (mode === 'off' && row.entry.deleted) edit.remove(row)
  else if (!putWithinQuota(edit, row, state.quota)) {
    return { state: 'refused', error: overQuota(row) }
  }
  changes.push({ ...row, previous: before?.entry, origin: 'local' })
  noteClaim(init, row, before)
  return undefined
}

/** Tells what had to go as ended: for whoever follows the ledger it is not there any more. */
export function* evictions(edit: StateEdit): Generator<Change> {
  for (const { bucket, key, entry } of edit.evicted()) {
    if (entry.deleted) continue
    yield { bucket, key, entry: asRemoved(entry), previous: entry, origin: 'remote' }
  }
}

/** A key that this node did not hold before may be claimed by another at the same time. */
function noteClaim(init: WriteCommitterInit, row: KeyedEntry, before: KeyedEntry | undefined): void {
  if (init.policyOf(row.bucket) === undefined || row.entry.deleted) return
  const held = before !== undefined && !before.entry.deleted && before.entry.owner === init.self
  if (!held) init.races.claimed(row, row.entry.version)
}

/** Mode `off` (wire document, 4.7): the block with the greater index, then hash, takes the place of the whole ledger. */
import { positionId } from '@mesh/core'
import type { Refused } from './block-intake.ts'
import { type Decoded, decodeBlock } from './decode-block.ts'
import type { KeyedEntry } from './entry.ts'
import { isSameEntry } from './judge.ts'
import type { Change, MergeResult } from './ledger.ts'
import type { LedgerState } from './ledger-state.ts'
import type { BlockHead } from './snapshot.ts'
import { leavesFrom } from './tree.ts'

export interface Adoption {
  readonly result: MergeResult
  readonly changes: readonly Change[]
}

/** A block with an entry that cannot be read is not taken: it would delete that entry. */
export function adoptBlock(
  json: Uint8Array,
  state: LedgerState,
  refuse: (refused: Refused) => void,
): Adoption {
  const { entries, refused, head } = decodeAll(decodeBlock(json))
  for (const each of refused) refuse(each)
  const result = { accepted: 0, unchanged: 0, rejected: refused }
  if (refused.length > 0 || !isNewer(head, state.head)) {
    return { result: { ...result, unchanged: entries.length }, changes: [] }
  }
  const edit = state.edit()
  const changes: Change[] = []
  const kept = new Set<string>()
  for (const row of entries) {
    kept.add(positionId(row))
    const before = edit.get(row)
    if (before !== undefined && isSameEntry(before.entry, row.entry)) continue
    if (!state.quota.admits(row, before)) {
      const over: Refused = { bucket: row.bucket, key: row.key, code: 'QUOTA' }
      refuse(over)
      edit.discard()
      return { result: { ...result, rejected: [over] }, changes: [] }
    }
    edit.put(row)
    changes.push({ ...row, previous: before?.entry, origin: 'remote' })
  }
  for (const rows of leavesFrom(state.tree, undefined)) {
    for (const row of rows) {
      if (kept.has(positionId(row))) continue
      edit.remove(row)
      changes.push({
        ...row,
        entry: { ...row.entry, value: '', deleted: true },
        previous: row.entry,
        origin: 'remote',
      })
    }
  }
  edit.commit(Object.freeze(head))
  return {
    result: { ...result, accepted: changes.length, unchanged: entries.length - changes.length },
    changes,
  }
}

function decodeAll(steps: Generator<Decoded, BlockHead>) {
  const entries: KeyedEntry[] = []
  const refused: Refused[] = []
  for (;;) {
    const step = steps.next()
    if (step.done === true) return { entries, refused, head: step.value }
    if (step.value.type === 'entry') entries.push(step.value.keyed)
    else refused.push(step.value)
  }
}

function isNewer(head: BlockHead, than: BlockHead): boolean {
  if (!Number.isSafeInteger(head.index) || head.index < 0) return false
  return head.index > than.index || (head.index === than.index && head.hash > than.hash)
}

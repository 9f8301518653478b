/** Stores an entry, and lets go what has to go for it. */
import { BUCKETS } from '@mesh/core'
import type { KeyedEntry } from '../entries/entry.ts'
import { MAX_EVICTED_AT_ONCE } from '../limits.ts'
import type { StateEdit } from './ledger-state.ts'
import type { Quota } from './quota.ts'

/**
 * False when there is no room: what this node holds would have to go, or the new entry would be the first to go again.
 * The edit is then as it was.
 */
export function putWithinQuota(edit: StateEdit, row: KeyedEntry, quota: Quota): boolean {
  const before = edit.get(row)
  // what is claimed of a range of addresses shows when the row is counted
  const fits = row.bucket !== BUCKETS.machines && quota.admits(row, before)
  edit.put(row)
  if (fits) return true
  const gone: KeyedEntry[] = []
  const excessNow = () => quota.excessAfter(row)
  for (let excess = excessNow(); excess !== undefined; excess = excessNow()) {
    const first = excess.first()
    if (first === undefined || first.entry === row.entry || gone.length >= MAX_EVICTED_AT_ONCE) {
      for (const evicted of gone) edit.put(evicted)
      if (before === undefined) edit.remove(row)
      else edit.put(before)
      return false
    }
    edit.remove(first)
    gone.push(first)
  }
  edit.noteEvicted(gone)
  return true
}

/** Which entries of a group are held: those with the least keys, and none before what the group needs is there. */
import type { KeyedEntry } from '../entries/entry.ts'
import type { StateEdit } from '../state/ledger-state.ts'
import { comparePositions } from '../state/position-order.ts'
import { leavesFrom } from '../state/tree.ts'
import type { EntryGroup } from './policy.ts'

/** True when something is held that the group needs. */
export function isFounded(edit: StateEdit, { bucket }: KeyedEntry, { needs }: EntryGroup): boolean {
  return needs.some((key) => edit.get({ bucket, key }) !== undefined)
}

/** Gives what has to go when this entry of the group comes, which may be the entry itself. */
export function surplusOf(
  edit: StateEdit,
  incoming: KeyedEntry,
  { prefix, most }: EntryGroup,
): readonly KeyedEntry[] {
  const all = [...rowsWith(edit, { bucket: incoming.bucket, key: prefix }), incoming]
  return all.sort(comparePositions).slice(most)
}

/** The held entries whose keys begin with this one's. */
function* rowsWith(edit: StateEdit, from: Pick<KeyedEntry, 'bucket' | 'key'>): Generator<KeyedEntry> {
  for (const rows of leavesFrom(edit.tree, from)) {
    for (const row of rows) {
      if (row.bucket !== from.bucket || !row.key.startsWith(from.key)) return
      yield row
    }
  }
}

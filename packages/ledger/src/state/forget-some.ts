/** Takes entries out as if they had never come, a few at a time: each costs as much as one that is written. */
import type { KeyedEntry } from '../entries/entry.ts'
import type { Withdrawn } from '../ledger.ts'
import { MAX_WITHDRAWN_AT_ONCE, WITHDRAW_STEP_ENTRIES } from '../limits.ts'
import type { StateEdit } from './ledger-state.ts'
import type { Position } from '../snapshot.ts'

export function forgetSome(
  edit: StateEdit,
  isOut: (row: KeyedEntry) => boolean,
  from: Position | undefined,
): Withdrawn {
  let [count, walked] = [0, 0]
  for (const row of edit.rowsFrom(from)) {
    const isEnough = walked++ === WITHDRAW_STEP_ENTRIES || count === MAX_WITHDRAWN_AT_ONCE
    if (isEnough) return { count, next: { bucket: row.bucket, key: row.key } }
    if (!isOut(row)) continue
    edit.forget(row)
    count++
  }
  return { count, next: undefined }
}

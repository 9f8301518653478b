/** Mode `off` (docs/WIRE.md 4.7): the block with the greater index, then hash, takes the place of the whole ledger. */
import { type Clock, type Logger, positionId } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { Refused } from '../blocks/block-intake.ts'
import { decodeBlock } from '../blocks/decode-block.ts'
import { asRemoved, type KeyedEntry } from '../entries/entry.ts'
import { isSameEntry } from '../rules/judge.ts'
import type { Change, MergeResult } from '../ledger.ts'
import type { LedgerEvents } from '../ledger-events.ts'
import type { LedgerState, StateEdit } from '../state/ledger-state.ts'
import type { BlockHead } from '../snapshot.ts'

interface Adoption {
  readonly result: MergeResult
  readonly changes: readonly Change[]
}

export interface WholeBlockComponents {
  readonly state: LedgerState
  readonly events: Pick<LedgerEvents, 'emit'>
  readonly clock: Clock
  /** Aborts when the ledger stops. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Counts an entry that could not be read, or for which there is no room. */
  readonly refuse: (refused: Refused) => void
}

/** Judges a block of another member and tells what it changed. Rejects with the signal's reason. */
export async function receiveWholeBlock(
  text: Uint8Array,
  components: WholeBlockComponents,
): Promise<MergeResult> {
  const { state, events, log, refuse } = components
  const block = await decodeAll(text, components)
  try {
    const { changes, result } = adoptBlock(block, state, refuse)
    if (changes.length > 0) events.emit({ type: 'committed', head: state.head, changes })
    return result
  } catch (error) {
    log.debug('block not stored', { error })
    return { accepted: 0, unchanged: 0, rejected: [] }
  }
}

interface DecodedBlock {
  readonly entries: readonly KeyedEntry[]
  readonly refused: Refused[]
  readonly head: BlockHead
}

/** A block with an entry that cannot be read is not taken: it would delete that entry. */
function adoptBlock(
  { entries, refused, head }: DecodedBlock,
  state: LedgerState,
  refuse: (refused: Refused) => void,
): Adoption {
  for (const each of refused) refuse(each)
  const result = { accepted: 0, unchanged: 0, rejected: refused }
  if (refused.length > 0 || !isNewer(head, state.head)) {
    return { result: { ...result, unchanged: entries.length }, changes: [] }
  }
  const edit = state.edit()
  // what goes makes room for what comes
  const changes = removeOthers(edit, new Set(entries.map(positionId)))
  for (const row of entries) {
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
  edit.commit(Object.freeze(head))
  return {
    result: { ...result, accepted: changes.length, unchanged: entries.length - changes.length },
    changes,
  }
}

/** Removes what the block does not hold, and tells it as deleted. */
function removeOthers(edit: StateEdit, kept: ReadonlySet<string>): Change[] {
  const gone = [...edit.rowsFrom(undefined)].filter((row) => !kept.has(positionId(row)))
  return gone.map((row) => {
    edit.remove(row)
    return { ...row, entry: asRemoved(row.entry), previous: row.entry, origin: 'remote' }
  })
}

/** Decodes in the time of the loop budget. */
async function decodeAll(
  text: Uint8Array,
  { clock, signal }: Pick<WholeBlockComponents, 'clock' | 'signal'>,
): Promise<DecodedBlock> {
  const entries: KeyedEntry[] = []
  const refused: Refused[] = []
  const budget = loopBudget(clock)
  const steps = decodeBlock(text)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return { entries, refused, head: step.value }
    if (step.value.type === 'entry') entries.push(step.value.keyed)
    else refused.push(step.value)
    const turn = budget.turn('members', { signal })
    if (turn !== undefined) await turn
  }
}

function isNewer(head: BlockHead, than: BlockHead): boolean {
  if (!Number.isSafeInteger(head.index) || head.index < 0) return false
  return head.index > than.index || (head.index === than.index && head.hash > than.hash)
}

/** Lets the ledger judge a message's entries, in slices that give way to other work. */
import { type PeerId, positionId } from '@mesh/core'
import type { LoopBudget } from '@mesh/core/limits'
import { entryHash, type KeyedEntry, type Ledger, type RejectionCode } from '@mesh/ledger'
import { MERGE_SLICE_ENTRIES, SHORT_HASH_BYTES } from '../limits.ts'
import type { Refusal } from '../session/sync-message.ts'

export interface MergedBatch {
  readonly accepted: number
  /** The ledger's digest changed: more than heartbeats and tombstones of the unknown. */
  readonly news: boolean
  readonly refused: readonly (Refusal & { readonly code: RejectionCode })[]
  /** Tombstones of what was refused because it has ended, for whoever sent it. */
  readonly retracted: readonly KeyedEntry[]
}

/** The loop budget, as one session uses it. */
export interface SessionBudget {
  readonly budget: LoopBudget
  /** The address of the session's peer: the budget serves one address after the other. */
  readonly key: string
  readonly signal: AbortSignal
}

interface MergeParts extends SessionBudget {
  readonly ledger: Pick<Ledger, 'merge' | 'snapshot' | 'admits'>
}

/** Does work of a few milliseconds in the time of the budget. Rejects with the signal's reason. */
export function inTurn<T>({ budget, key, signal }: SessionBudget, work: () => T): Promise<T> {
  return budget.run('members', async () => work(), { key, signal })
}

/** Takes the steps of a work, as many in each turn as there is time for. Rejects with the signal's reason. */
export async function stepsInTurns<T>(
  { budget, key, signal }: SessionBudget,
  steps: Generator<undefined, T>,
): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value
    const turn = budget.turn('members', { key, signal })
    if (turn !== undefined) await turn
  }
}

/** The ledger’s verdicts on some entries. */
interface Judged {
  accepted: number
  readonly refused: { readonly keyed: KeyedEntry; readonly code: RejectionCode }[]
  readonly retracted: KeyedEntry[]
}

export async function mergeBatch(
  entries: readonly KeyedEntry[],
  author: PeerId,
  parts: MergeParts,
): Promise<MergedBatch> {
  const { ledger } = parts
  const before = ledger.snapshot().digest().digest
  let { accepted, refused, retracted } = await mergeSlices(entries, author, parts)
  for (;;) {
    // their owners were let in by what came with them, or meanwhile
    const isLetIn = ({ keyed, code }: Judged['refused'][number]) =>
      code === 'GATED' && ledger.admits(keyed.entry.owner)
    const letIn = refused.filter(isLetIn).map(({ keyed }) => keyed)
    if (letIn.length === 0) break
    const left = refused.filter((refusal) => !isLetIn(refusal))
    const again = await mergeSlices(letIn, author, parts)
    accepted += again.accepted
    refused = [...left, ...again.refused]
    retracted = [...retracted, ...again.retracted]
    // nobody more was let in by these
    if (again.accepted === 0) break
  }
  const news = accepted > 0 && ledger.snapshot().digest().digest !== before
  return { accepted, news, refused: refused.map(toRefusal), retracted }
}

async function mergeSlices(
  entries: readonly KeyedEntry[],
  author: PeerId,
  { ledger, budget, key, signal }: MergeParts,
): Promise<Judged> {
  const judged: Judged = { accepted: 0, refused: [], retracted: [] }
  for (let at = 0; at < entries.length; at += MERGE_SLICE_ENTRIES) {
    // a peer that sends mostly refused entries gets the time that others leave
    const lane = judged.refused.length > judged.accepted ? 'background' : 'members'
    const turn = budget.turn(lane, { key, signal })
    if (turn !== undefined) await turn
    const slice = entries.slice(at, at + MERGE_SLICE_ENTRIES)
    const result = ledger.merge(slice, author)
    judged.accepted += result.accepted
    judged.refused.push(...refusedOf(slice, result.rejected))
    judged.retracted.push(...(result.retracted ?? []))
  }
  return judged
}

function refusedOf(
  slice: readonly KeyedEntry[],
  rejected: readonly { readonly bucket: string; readonly key: string; readonly code: RejectionCode }[],
): Judged['refused'] {
  if (rejected.length === 0) return []
  const codes = new Map(rejected.map((refusal) => [positionId(refusal), refusal.code]))
  return slice.flatMap((keyed) => {
    const code = codes.get(positionId(keyed))
    return code === undefined ? [] : [{ keyed, code }]
  })
}

function toRefusal({ keyed, code }: Judged['refused'][number]): MergedBatch['refused'][number] {
  return { hash: entryHash(keyed).subarray(0, SHORT_HASH_BYTES), code }
}

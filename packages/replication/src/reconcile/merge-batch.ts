/** Lets the ledger judge a message's entries, in slices that give way to other work. */
import { type Clock, delay, type PeerId, positionId, type TimeShare } from '@mesh/core'
import { entryHash, type KeyedEntry, type Ledger, type RejectionCode } from '@mesh/ledger'
import { MERGE_SLICE_ENTRIES, SHORT_HASH_BYTES, SLICE_MS } from '../limits.ts'
import type { Refusal } from '../session/sync-message.ts'

export interface MergedBatch {
  readonly accepted: number
  /** The ledger's digest changed: more than heartbeats and tombstones of the unknown. */
  readonly news: boolean
  readonly refused: readonly (Refusal & { readonly code: RejectionCode })[]
  /** Tombstones of what was refused because it has ended, for whoever sent it. */
  readonly retracted: readonly KeyedEntry[]
}

interface MergeParts {
  readonly ledger: Pick<Ledger, 'merge' | 'snapshot' | 'admits'>
  readonly clock: Clock
  /** The time that all sessions share. */
  readonly time: TimeShare
  readonly signal: AbortSignal
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
  { ledger, clock, time, signal }: MergeParts,
): Promise<Judged> {
  const judged: Judged = { accepted: 0, refused: [], retracted: [] }
  for (let at = 0; at < entries.length; at += MERGE_SLICE_ENTRIES) {
    await time.turn(SLICE_MS, signal)
    const startMs = clock.monotonic()
    const slice = entries.slice(at, at + MERGE_SLICE_ENTRIES)
    const result = ledger.merge(slice, author)
    judged.accepted += result.accepted
    judged.refused.push(...refusedOf(slice, result.rejected))
    judged.retracted.push(...(result.retracted ?? []))
    const workedMs = clock.monotonic() - startMs
    time.use(workedMs)
    // Whoever sends mostly what is refused gets a quarter of the time.
    if (judged.refused.length > judged.accepted && workedMs > 0) await delay(clock, 3 * workedMs, signal)
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

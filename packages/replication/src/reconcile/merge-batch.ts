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

export async function mergeBatch(
  entries: readonly KeyedEntry[],
  author: PeerId,
  {
    ledger,
    clock,
    time,
    signal,
  }: {
    readonly ledger: Pick<Ledger, 'merge' | 'snapshot'>
    readonly clock: Clock
    /** The time that all sessions share. */
    readonly time: TimeShare
    readonly signal: AbortSignal
  },
): Promise<MergedBatch> {
  const refused: (Refusal & { readonly code: RejectionCode })[] = []
  const retracted: KeyedEntry[] = []
  let accepted = 0
  const before = ledger.snapshot().digest().digest
  for (let at = 0; at < entries.length; at += MERGE_SLICE_ENTRIES) {
    await time.turn(SLICE_MS, signal)
    const startMs = clock.monotonic()
    const slice = entries.slice(at, at + MERGE_SLICE_ENTRIES)
    const result = ledger.merge(slice, author)
    accepted += result.accepted
    refused.push(...toRefusals(slice, result.rejected))
    retracted.push(...(result.retracted ?? []))
    const workedMs = clock.monotonic() - startMs
    time.use(workedMs)
    // Whoever sends mostly what is refused gets a quarter of the time.
    if (refused.length > accepted && workedMs > 0) await delay(clock, 3 * workedMs, signal)
  }
  const news = accepted > 0 && ledger.snapshot().digest().digest !== before
  return { accepted, news, refused, retracted }
}

function toRefusals(
  slice: readonly KeyedEntry[],
  rejected: readonly { readonly bucket: string; readonly key: string; readonly code: RejectionCode }[],
) {
  if (rejected.length === 0) return []
  const codes = new Map(rejected.map((refusal) => [positionId(refusal), refusal.code]))
  return slice.flatMap((keyed) => {
    const code = codes.get(positionId(keyed))
    return code === undefined ? [] : [{ hash: entryHash(keyed).subarray(0, SHORT_HASH_BYTES), code }]
  })
}

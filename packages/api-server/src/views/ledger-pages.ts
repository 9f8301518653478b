/** Pages of the ledger, of a bucket and of the block: the forms of the whole answers, with fewer entries. */
import { type EntryPlace, entryPathOf } from '@mesh/api-contract'
import type { KeyedEntry, PositionRange, Snapshot } from '@mesh/ledger'
import type { AnswerPart } from './answer-parts.ts'
import { blockFrame, memberText, signedEntryText, type ValueForm } from './ledger-text.ts'
import { type PageQuery, takePage } from './page.ts'

/** A page's text, and the `after` of the next one. */
export interface LedgerPage {
  readonly body: string
  /** Undefined on the last page. */
  readonly next: string | undefined
}

/** Live entries of one bucket after a key. */
export function bucketPage(
  snapshot: Snapshot,
  {
    bucket,
    values,
    after,
    limit,
  }: PageQuery<string> & { readonly bucket: string; readonly values: ValueForm },
): LedgerPage {
  const { rows, last } = takePage(entriesAfter(snapshot, bucket, after), limit, (row) =>
    livePart(row, values),
  )
  return { body: `{${rows.map(({ text }) => text).join(',')}}\n`, next: last?.key }
}

/** Live entries of all buckets after an entry. */
export function ledgerPage(
  snapshot: Snapshot,
  { values, after, limit }: PageQuery<EntryPlace> & { readonly values: ValueForm },
): LedgerPage {
  const { rows, last } = takePage(snapshot.entriesIn(rangeAfter(after)), limit, (row) =>
    livePart(row, values),
  )
  return { body: `{${byBucket(rows)}}\n`, next: last && entryPathOf(last) }
}

/** The block with the entries after one, tombstones included. */
export function blockPage(snapshot: Snapshot, { after, limit }: PageQuery<EntryPlace>): LedgerPage {
  const { rows, last } = takePage(snapshot.entriesIn(rangeAfter(after)), limit, ({ key, entry }) => ({
    text: `${JSON.stringify(key)}:${signedEntryText(entry)}`,
  }))
  const { head, tail } = blockFrame(snapshot)
  return { body: head + byBucket(rows) + tail, next: last && entryPathOf(last) }
}

/** Entries of a bucket behind a key, tombstones included. */
export function entriesAfter(
  snapshot: Snapshot,
  bucket: string,
  after: string | undefined,
): Iterable<KeyedEntry> {
  if (after === undefined) return snapshot.entries(bucket)
  return snapshot.entriesIn({ ...rangeAfter({ bucket, key: after }), to: { bucket: `${bucket}\0`, key: '' } })
}

/** No text lies between a key and the key with U+0000 behind it. */
function rangeAfter(after: EntryPlace | undefined): PositionRange {
  const from = after && { bucket: after.bucket, key: `${after.key}\0` }
  return { from, to: undefined }
}

function livePart(row: KeyedEntry, values: ValueForm): AnswerPart {
  return { text: row.entry.deleted ? '' : memberText(row, values) }
}

/** The rows of a page as an object of objects; they come in the order of their buckets. */
function byBucket(rows: readonly { readonly row: KeyedEntry; readonly text: string }[]): string {
  const buckets = Map.groupBy(rows, ({ row }) => row.bucket)
  return [...buckets]
    .map(([bucket, inside]) => `${JSON.stringify(bucket)}:{${inside.map(({ text }) => text).join(',')}}`)
    .join(',')
}

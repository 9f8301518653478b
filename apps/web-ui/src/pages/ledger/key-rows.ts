import type { BucketView } from '@mesh/api-contract'
import type { TrackedWrite } from '../../model/tracked-write.ts'
import { printInLine } from '../../model/typed-value.ts'

/** One key as the list shows it: the value that is known, and a write of this page that is on its way. */
export interface KeyRow {
  readonly key: string
  /** Undefined while the first write of the key is on its way. */
  readonly value: { readonly value: unknown } | undefined
  readonly write: TrackedWrite | undefined
}

/** Sorted by key; keys whose first write is on its way, or was refused, stand among the others. */
export function buildKeyRows(bucket: BucketView, writes: readonly TrackedWrite[]): readonly KeyRow[] {
  const written = new Map(writes.map((write) => [write.request.key, write]))
  const rows: KeyRow[] = Object.entries(bucket).map(([key, value]) => ({
    key,
    value: { value },
    write: written.get(key),
  }))
  for (const [key, write] of written) {
    const { request, outcome } = write
    const pending = outcome.state === 'announcing' || outcome.state === 'announced'
    if (!Object.hasOwn(bucket, key) && request.action === 'put' && (pending || outcome.state === 'refused')) {
      rows.push({ key, value: undefined, write })
    }
  }
  return rows.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** Text in key or value, in any case of letters. */
export function filterKeyRows(rows: readonly KeyRow[], filter: string): readonly KeyRow[] {
  const wanted = filter.trim().toLowerCase()
  if (wanted === '') return rows
  return rows.filter(
    ({ key, value }) =>
      key.toLowerCase().includes(wanted) ||
      (value !== undefined && printInLine(value.value).toLowerCase().includes(wanted)),
  )
}

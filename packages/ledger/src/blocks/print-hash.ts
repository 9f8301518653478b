/** The hash of a block as legacy members make it (docs/WIRE.md 4.1): over Go's print of all entries. */
import { hexHash } from './block-hash.ts'
import { byUtf8 } from './encode-block.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import type { BlockHead } from '../snapshot.ts'

/** SHA-256 of index, timestamp, Go's print of the whole storage and the previous hash. For mode `off` and the vectors. */
export function hashByPrint(head: Omit<BlockHead, 'hash'>, entries: Iterable<KeyedEntry>): string {
  return hexHash(`${head.index}${head.timestamp}${printStorage(entries)}${head.prevHash}`)
}

function printStorage(entries: Iterable<KeyedEntry>): string {
  const buckets = Map.groupBy(entries, ({ bucket }) => bucket)
  const printed = [...buckets].toSorted(byUtf8(([bucket]) => bucket)).map(([bucket, rows]) => {
    const inner = rows.toSorted(byUtf8(({ key }) => key)).map(printRow)
    return `${bucket}:map[${inner.join(' ')}]`
  })
  return `map[${printed.join(' ')}]`
}

function printRow({ key, entry }: KeyedEntry): string {
  const { value, owner, version, updatedAt, deleted, sig } = entry
  return `${key}:{${value} ${owner} ${version} ${updatedAt} ${deleted} [${(sig ?? []).join(' ')}]}`
}

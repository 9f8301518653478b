/** A block's hash: by the ledger's digest, at the same cost for any size, or as legacy members make it (docs/WIRE.md 4.1). */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { KeyedEntry } from '../entries/entry.ts'
import type { BlockHead } from '../snapshot.ts'
import { byUtf8 } from './encode-block.ts'

/** The hash of the block before the first: SHA-256 of `0map[]`. */
const GENESIS_HASH = hexHash('0map[]')

export function genesisHead(timestamp: string): BlockHead {
  return { index: 0, timestamp, hash: GENESIS_HASH, prevHash: '' }
}

/** SHA-256 of index, timestamp, the ledger's digest and the previous hash, one behind the other. */
export function hashByDigest(head: Omit<BlockHead, 'hash'>, digest: string): string {
  return hexHash(`${head.index}${head.timestamp}${digest}${head.prevHash}`)
}

/** SHA-256 of a text, in hexadecimal. */
function hexHash(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)))
}

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

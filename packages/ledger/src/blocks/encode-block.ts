/** Entries and blocks as legacy members write them (docs/WIRE.md 4.1 and 4.2). */
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import type { BlockHead } from '../snapshot.ts'

/** The head of a block that carries only some entries: members with ownership `off` ignore it. */
const partialHead: BlockHead = { index: 0, timestamp: '', hash: '', prevHash: '' }

/** A JSON string as Go prints it: `<`, `>`, `&`, U+2028 and U+2029 as `\u003c` and so on. */
function quoteGo(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** An entry's JSON: the six fields in order, or the bare Value where an unsigned legacy entry had no more. */
export function encodeEntry(entry: Entry): string {
  const { value, owner, version, updatedAt, deleted, sig } = entry
  if (owner === '' && sig === null && !deleted && version === 0n) return quoteGo(value)
  const sigText = sig === null ? 'null' : `"${encodeBase64(sig)}"`
  return `{"Value":${quoteGo(value)},"Owner":${quoteGo(owner)},"Version":${version},"UpdatedAt":${updatedAt},"Deleted":${deleted},"Sig":${sigText}}`
}

/**
 * A block's JSON text as UTF-8. Without a head it is a partial block, which every member takes as 'these entries,
 * and nothing about others'.
 */
export function encodeBlock(entries: Iterable<KeyedEntry>, head: BlockHead = partialHead): Uint8Array {
  const buckets = new Map<string, KeyedEntry[]>()
  for (const keyed of entries) {
    const bucket = buckets.get(keyed.bucket)
    if (bucket === undefined) buckets.set(keyed.bucket, [keyed])
    else bucket.push(keyed)
  }
  const storage = [...buckets].toSorted(byUtf8(([name]) => name)).map(([name, list]) => {
    const rows = list.toSorted(byUtf8(({ key }) => key))
    return `${quoteGo(name)}:{${rows.map(({ key, entry }) => `${quoteGo(key)}:${encodeEntry(entry)}`).join(',')}}`
  })
  const { index, timestamp, hash, prevHash } = head
  return new TextEncoder().encode(
    `{"Index":${index},"Timestamp":${quoteGo(timestamp)},"Storage":{${storage.join(',')}},"Hash":${quoteGo(hash)},"PrevHash":${quoteGo(prevHash)}}`,
  )
}

/** Sorts as Go does, by UTF-8 bytes: surrogates (the code points beyond U+FFFF) come after all other units. */
export function byUtf8<T>(textOf: (value: T) => string): (a: T, b: T) => number {
  return (a, b) => compareUtf8(textOf(a), textOf(b))
}

function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x1_0000 : unit
}

function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/**
 * Reads one block's JSON entry by entry (docs/WIRE.md 4.1 and 4.2), with the tolerance of `legacy/go-fields.ts`. One
 * bad entry is reported and skipped; what came before a syntax error stays.
 */
import type { KeyedEntry } from '../entries/entry.ts'
import { foldKey, readEntry, readHeadField, Unreadable } from '../legacy/go-fields.ts'
import { createJsonScanner, type JsonScanner, JsonSyntaxError } from '../legacy/json-scanner.ts'
import { MAX_BLOCK_BYTES, MAX_BLOCK_ENTRIES, MAX_BUCKET_BYTES, MAX_KEY_BYTES } from '../limits.ts'
import { utf8Length } from '../entries/canonical.ts'
import type { BlockHead } from '../state/snapshot.ts'

/** One step of decoding. */
export type Decoded =
  | { readonly type: 'entry'; readonly keyed: KeyedEntry }
  | {
      readonly type: 'refused'
      readonly code: 'MALFORMED' | 'TOO_LARGE'
      readonly bucket: string
      readonly key: string
    }

/** Yields a block's entries and, for each that cannot be one, why; returns the head. Never throws. */
export function* decodeBlock(json: Uint8Array): Generator<Decoded, BlockHead> {
  const head = { index: 0, timestamp: '', hash: '', prevHash: '' }
  if (json.length > MAX_BLOCK_BYTES) {
    yield { type: 'refused', code: 'TOO_LARGE', bucket: '', key: '' }
    return head
  }
  const scanner = createJsonScanner(json)
  try {
    if (scanner.kind() === 'null') scanner.null()
    else {
      const nextField = scanner.openObject()
      for (let field = nextField(); field !== undefined; field = nextField()) {
        if (foldKey(field) === 'storage') yield* decodeStorage(scanner)
        else readHeadField(scanner, field, head)
      }
    }
    scanner.end()
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof Unreadable)) throw error
    yield {
      type: 'refused',
      code: error instanceof Unreadable ? error.code : 'MALFORMED',
      bucket: '',
      key: '',
    }
  }
  return head
}

/** A block's head and entries, for texts from trusted places. */
export function decodeEntries(json: Uint8Array): {
  head: BlockHead
  entries: KeyedEntry[]
  /** Number of entries that cannot be read. */
  refused: number
} {
  const entries: KeyedEntry[] = []
  let refused = 0
  const steps = decodeBlock(json)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return { head: step.value, entries, refused }
    if (step.value.type === 'entry') entries.push(step.value.keyed)
    else refused++
  }
}

function* decodeStorage(scanner: JsonScanner): Generator<Decoded, void> {
  if (scanner.kind() === 'null') return scanner.null()
  const owners = new Map<string, string>()
  let count = 0
  const nextBucket = scanner.openObject()
  for (let bucket = nextBucket(); bucket !== undefined; bucket = nextBucket()) {
    if (scanner.kind() !== 'object') {
      const wrong = scanner.kind() !== 'null'
      scanner.skip()
      if (wrong) yield { type: 'refused', code: 'MALFORMED', bucket: cut(bucket), key: '' }
      continue
    }
    const bucketFits = utf8Length(bucket) <= MAX_BUCKET_BYTES
    const nextKey = scanner.openObject()
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      if (++count > MAX_BLOCK_ENTRIES) throw new Unreadable('TOO_LARGE')
      const fits = bucketFits && utf8Length(key) <= MAX_KEY_BYTES
      const entry = readEntry(scanner, owners)
      if (typeof entry === 'string' || !fits) {
        const code = typeof entry === 'string' ? entry : 'TOO_LARGE'
        yield { type: 'refused', code, bucket: cut(bucket), key: cut(key) }
      } else yield { type: 'entry', keyed: { bucket, key, entry } }
    }
  }
}

/** Names of refused entries stay short in events and logs. */
function cut(name: string): string {
  return name.length > MAX_BUCKET_BYTES ? name.slice(0, MAX_BUCKET_BYTES).toWellFormed() : name
}

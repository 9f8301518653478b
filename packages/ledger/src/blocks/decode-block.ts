/**
 * Reads one block's JSON entry by entry (docs/WIRE.md 4.1 and 4.2), with the tolerance of `go-json/go-fields.ts`. One
 * bad entry is reported and skipped; what came before a syntax error stays. What nobody wants of a block is bounded.
 */
import type { KeyedEntry } from '../entries/entry.ts'
import { foldKey, readEntry, readHeadField, Unreadable } from '../go-json/go-fields.ts'
import { JsonScanner, JsonSyntaxError, JsonTooLongError } from '../go-json/json-scanner.ts'
import {
  MAX_BLOCK_BUCKETS,
  MAX_BLOCK_BYTES,
  MAX_BLOCK_ENTRIES,
  MAX_BUCKET_BYTES,
  MAX_FIELD_NAME_BYTES,
  MAX_JSON_FIELDS,
  MAX_KEY_BYTES,
  MAX_SKIPPED_BYTES,
} from '../limits.ts'
import { utf8Length } from '../entries/utf8-length.ts'
import type { BlockHead } from '../snapshot.ts'

/** One step of decoding. */
export type Decoded =
  | { readonly type: 'entry'; readonly keyed: KeyedEntry }
  | {
      readonly type: 'refused'
      readonly code: 'MALFORMED' | 'TOO_LARGE'
      readonly bucket: string
      readonly key: string
    }

type Steps = Generator<Decoded, void, undefined>

/** Yields a block's entries and, for each that cannot be one, why; returns the head. Never throws. */
export function* decodeBlock(json: Uint8Array): Generator<Decoded, BlockHead, undefined> {
  const head = { index: 0, timestamp: '', hash: '', prevHash: '' }
  try {
    if (json.length > MAX_BLOCK_BYTES) throw new Unreadable('TOO_LARGE')
    yield* new BlockDecoder(json, head).decode()
  } catch (error) {
    const isTooLarge =
      error instanceof JsonTooLongError || (error instanceof Unreadable && error.code === 'TOO_LARGE')
    if (!isTooLarge && !(error instanceof JsonSyntaxError || error instanceof Unreadable)) throw error
    yield { type: 'refused', code: isTooLarge ? 'TOO_LARGE' : 'MALFORMED', bucket: '', key: '' }
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
    else if (step.value.type === 'refused') refused++
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** One pass over a block. What is skipped, named and repeated in it is counted, so that no block costs more than its entries. */
class BlockDecoder {
  readonly #scanner: JsonScanner
  readonly #head: Mutable<BlockHead>
  readonly #owners = new Map<string, string>()
  #skippable = MAX_SKIPPED_BYTES
  #fields = 0
  #buckets = 0
  #entries = 0

  constructor(json: Uint8Array, head: Mutable<BlockHead>) {
    this.#scanner = new JsonScanner(json)
    this.#head = head
  }

  *decode(): Steps {
    const scanner = this.#scanner
    if (scanner.kind() === 'null') scanner.null()
    else {
      const nextField = scanner.openObject(MAX_FIELD_NAME_BYTES)
      for (let field = nextField(); field !== undefined; field = nextField()) {
        if (++this.#fields > MAX_JSON_FIELDS) throw new Unreadable('TOO_LARGE')
        if (foldKey(field) === 'storage') yield* this.#decodeStorage()
        else if (!readHeadField(scanner, field, this.#head)) this.#skip()
      }
    }
    scanner.end()
  }

  *#decodeStorage(): Steps {
    const scanner = this.#scanner
    if (scanner.kind() === 'null') return scanner.null()
    const nextBucket = scanner.openObject()
    for (let bucket = nextBucket(); bucket !== undefined; bucket = nextBucket()) {
      if (++this.#buckets > MAX_BLOCK_BUCKETS) throw new Unreadable('TOO_LARGE')
      const kind = scanner.kind()
      if (kind === 'object') yield* this.#decodeBucket(bucket)
      else {
        this.#skip()
        if (kind !== 'null') yield { type: 'refused', code: 'MALFORMED', bucket: cut(bucket), key: '' }
      }
    }
  }

  *#decodeBucket(bucket: string): Steps {
    const scanner = this.#scanner
    const bucketFits = utf8Length(bucket) <= MAX_BUCKET_BYTES
    const nextKey = scanner.openObject()
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      if (++this.#entries > MAX_BLOCK_ENTRIES) throw new Unreadable('TOO_LARGE')
      const fits = bucketFits && utf8Length(key) <= MAX_KEY_BYTES
      scanner.kind()
      const start = scanner.offset
      const entry = readEntry(scanner, this.#owners)
      if (typeof entry === 'string') {
        scanner.seek(start)
        this.#skip()
      }
      if (typeof entry === 'string' || !fits) {
        const code = typeof entry === 'string' ? entry : 'TOO_LARGE'
        yield { type: 'refused', code, bucket: cut(bucket), key: cut(key) }
      } else yield { type: 'entry', keyed: { bucket, key, entry } }
    }
  }

  /** Passes a value that nobody wants, at the expense of what may be skipped of a block. */
  #skip(): void {
    const start = this.#scanner.offset
    this.#scanner.skip(this.#skippable)
    this.#skippable -= this.#scanner.offset - start
  }
}

/** Names of refused entries stay short in events and logs. */
function cut(name: string): string {
  return name.length > MAX_BUCKET_BYTES ? name.slice(0, MAX_BUCKET_BYTES).toWellFormed() : name
}

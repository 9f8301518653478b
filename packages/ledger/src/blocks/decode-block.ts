/**
 * Reads one block's JSON entry by entry (docs/WIRE.md 4.1 and 4.2), with the tolerance of `go-json/go-fields.ts`. One
 * bad entry is reported and skipped; what came before a syntax error stays. What nobody wants of a block is bounded, and
 * skipped with pauses.
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
  SKIP_PAUSE_BYTES,
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
  /** Nothing yet, but a while has gone by: other work may have its turn. */
  | { readonly type: 'pause' }

/** A step of a block that comes in pieces: the next call has to bring one, or undefined where the text has ended. */
type PieceWanted = { readonly type: 'more' }

/** The steps of a block's text that is all there, or of one that is brought piece by piece. */
export type BlockSteps = Generator<Decoded | PieceWanted, BlockHead, Uint8Array | undefined>

const PAUSE: Decoded = { type: 'pause' }
const MORE: PieceWanted = { type: 'more' }

/** Yields a block's entries and, for each that cannot be one, why; returns the head. Never throws. */
export function decodeBlock(json: Uint8Array): Generator<Decoded, BlockHead, undefined> {
  // nothing is wanted of a text that is all there
  return decode(json) as Generator<Decoded, BlockHead, undefined>
}

/** Does as `decodeBlock` does, and asks for the text piece by piece; a piece is copied before the next step. */
export function decodePieces(): BlockSteps {
  return decode(undefined)
}

function* decode(json: Uint8Array | undefined): BlockSteps {
  const head = { index: 0, timestamp: '', hash: '', prevHash: '' }
  try {
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

type Steps = Generator<Decoded | PieceWanted, void, Uint8Array | undefined>

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
  #pausedAt = 0
  #bytes = 0

  constructor(json: Uint8Array | undefined, head: Mutable<BlockHead>) {
    this.#scanner = new JsonScanner(json)
    this.#head = head
    if (json !== undefined) this.#count(json)
  }

  *decode(): Steps {
    const scanner = this.#scanner
    if (scanner.isShort) yield* this.#lookAhead()
    if (scanner.kind() === 'null') scanner.null()
    else {
      const nextField = scanner.openObject(MAX_FIELD_NAME_BYTES)
      for (let field = nextField(); field !== undefined; field = nextField()) {
        if (++this.#fields > MAX_JSON_FIELDS) throw new Unreadable('TOO_LARGE')
        if (foldKey(field) === 'storage') yield* this.#decodeStorage()
        else if (!readHeadField(scanner, field, this.#head)) yield* this.#skip()
        if (scanner.isShort) yield* this.#lookAhead()
      }
    }
    if (scanner.isShort) yield* this.#lookAhead()
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
        yield* this.#skip()
        if (kind !== 'null') yield { type: 'refused', code: 'MALFORMED', bucket: cut(bucket), key: '' }
      }
      if (this.#isPauseDue()) yield PAUSE
      if (scanner.isShort) yield* this.#lookAhead()
    }
  }

  *#decodeBucket(bucket: string): Steps {
    const scanner = this.#scanner
    const bucketFits = utf8Length(bucket) <= MAX_BUCKET_BYTES
    const nextKey = scanner.openObject()
    if (scanner.isShort) yield* this.#lookAhead()
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      if (++this.#entries > MAX_BLOCK_ENTRIES) throw new Unreadable('TOO_LARGE')
      const fits = bucketFits && utf8Length(key) <= MAX_KEY_BYTES
      scanner.kind()
      const start = scanner.offset
      const entry = readEntry(scanner, this.#owners)
      if (typeof entry === 'string') {
        scanner.seek(start)
        yield* this.#skip()
      }
      if (typeof entry === 'string' || !fits) {
        const code = typeof entry === 'string' ? entry : 'TOO_LARGE'
        yield { type: 'refused', code, bucket: cut(bucket), key: cut(key) }
      } else yield { type: 'entry', keyed: { bucket, key, entry } }
      if (scanner.isShort) yield* this.#lookAhead()
    }
  }

  /** Passes a value that nobody wants, at the expense of what may be skipped of a block. */
  *#skip(): Steps {
    const scanner = this.#scanner
    const start = scanner.offset
    if (scanner.isShort) yield* this.#lookAhead()
    for (const _ of scanner.skipping(this.#skippable)) {
      yield PAUSE
      if (scanner.isShort) yield* this.#lookAhead()
    }
    this.#skippable -= scanner.offset - start
  }

  /** Asks for pieces until as much lies ahead as is read in one go, or the text has ended. */
  *#lookAhead(): Steps {
    while (this.#scanner.isShort) {
      const piece = yield MORE
      if (piece !== undefined) this.#count(piece)
      this.#scanner.append(piece)
    }
  }

  #count({ length }: Uint8Array): void {
    this.#bytes += length
    if (this.#bytes > MAX_BLOCK_BYTES) throw new Unreadable('TOO_LARGE')
  }

  #isPauseDue(): boolean {
    const { offset } = this.#scanner
    if (offset - this.#pausedAt < SKIP_PAUSE_BYTES) return false
    this.#pausedAt = offset
    return true
  }
}

/** Names of refused entries stay short in events and logs. */
function cut(name: string): string {
  return name.length > MAX_BUCKET_BYTES ? name.slice(0, MAX_BUCKET_BYTES).toWellFormed() : name
}

/**
 * Reads one block's JSON entry by entry, as Go reads it (docs/WIRE.md 4.1 and 4.2): keys in any case, bare
 * values, exact versions. One bad entry is reported and skipped; what came before a syntax error stays.
 */
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import {
  createJsonScanner,
  type JsonScanner,
  JsonSyntaxError,
  JsonTooLongError,
} from '../legacy/json-scanner.ts'
import {
  MAX_BLOCK_BUCKETS,
  MAX_BLOCK_BYTES,
  MAX_BLOCK_ENTRIES,
  MAX_BUCKET_BYTES,
  MAX_JSON_FIELDS,
  MAX_KEY_BYTES,
  MAX_OWNER_BYTES,
  MAX_SKIPPED_BYTES,
  MAX_SKIPPED_FIELD_BYTES,
  MAX_VALUE_BYTES,
  MAX_VERSION,
  SKIP_PAUSE_BYTES,
} from '../limits.ts'
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
  /** Nothing yet, but a while has gone by: other work may have its turn. */
  | { readonly type: 'pause' }

const PAUSE: Decoded = { type: 'pause' }
const NO_ENTRY: Entry = { value: '', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }
/** A signature has 64 bytes; a longer one is not even kept to be refused. */
const MAX_SIG_TEXT = 256

/** What is wrong with one entry; the block goes on. */
class BadEntry extends Error {
  readonly code: 'MALFORMED' | 'TOO_LARGE'
  constructor(code: 'MALFORMED' | 'TOO_LARGE') {
    super(code)
    this.code = code
  }
}

/** Yields a block's entries and, for each that cannot be one, why; returns the head. Never throws. */
export function* decodeBlock(json: Uint8Array): Generator<Decoded, BlockHead> {
  const head = { index: 0, timestamp: '', hash: '', prevHash: '' }
  if (json.length > MAX_BLOCK_BYTES) {
    yield { type: 'refused', code: 'TOO_LARGE', bucket: '', key: '' }
    return head
  }
  try {
    yield* new BlockDecoder(json, head).decode()
  } catch (error) {
    const isTooLarge =
      error instanceof JsonTooLongError || (error instanceof BadEntry && error.code === 'TOO_LARGE')
    if (!isTooLarge && !(error instanceof JsonSyntaxError || error instanceof BadEntry)) throw error
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
  #pausedAt = 0

  constructor(json: Uint8Array, head: Mutable<BlockHead>) {
    this.#scanner = createJsonScanner(json)
    this.#head = head
  }

  *decode(): Generator<Decoded, void> {
    const scanner = this.#scanner
    if (scanner.kind() === 'null') scanner.null()
    else {
      const nextField = scanner.openObject()
      for (let field = nextField(); field !== undefined; field = nextField()) {
        if (++this.#fields > MAX_JSON_FIELDS) throw new BadEntry('TOO_LARGE')
        if (foldKey(field) === 'storage') yield* this.#decodeStorage()
        else if (!this.#readHeadField(foldKey(field))) yield* this.#skip()
      }
    }
    scanner.end()
  }

  /** False for a field that is not known. */
  #readHeadField(field: string): boolean {
    const scanner = this.#scanner
    const head = this.#head
    if (field === 'index') head.index = Number(readInteger(scanner, -MAX_VERSION, MAX_VERSION) ?? head.index)
    else if (field === 'timestamp') head.timestamp = readText(scanner, 256) ?? head.timestamp
    else if (field === 'hash') head.hash = readText(scanner, 256) ?? head.hash
    else if (field === 'prevhash') head.prevHash = readText(scanner, 256) ?? head.prevHash
    else return false
    return true
  }

  *#decodeStorage(): Generator<Decoded, void> {
    const scanner = this.#scanner
    if (scanner.kind() === 'null') return scanner.null()
    const nextBucket = scanner.openObject()
    for (let bucket = nextBucket(); bucket !== undefined; bucket = nextBucket()) {
      if (++this.#buckets > MAX_BLOCK_BUCKETS) throw new BadEntry('TOO_LARGE')
      const kind = scanner.kind()
      if (kind === 'object') yield* this.#decodeBucket(bucket)
      else {
        yield* this.#skip()
        if (kind !== 'null') yield { type: 'refused', code: 'MALFORMED', bucket: cut(bucket), key: '' }
      }
      if (this.#isPauseDue()) yield PAUSE
    }
  }

  *#decodeBucket(bucket: string): Generator<Decoded, void> {
    const scanner = this.#scanner
    const bucketFits = utf8Length(bucket) <= MAX_BUCKET_BYTES
    const nextKey = scanner.openObject()
    for (let key = nextKey(); key !== undefined; key = nextKey()) {
      if (++this.#entries > MAX_BLOCK_ENTRIES) throw new BadEntry('TOO_LARGE')
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
    }
  }

  /** Passes a value that nobody wants, at the expense of what may be skipped of a block. */
  *#skip(): Generator<Decoded, void> {
    const start = this.#scanner.offset
    for (const _ of this.#scanner.skipping(this.#skippable)) yield PAUSE
    this.#skippable -= this.#scanner.offset - start
  }

  #isPauseDue(): boolean {
    const { offset } = this.#scanner
    if (offset - this.#pausedAt < SKIP_PAUSE_BYTES) return false
    this.#pausedAt = offset
    return true
  }
}

/** One entry, or why it is none; the scanner is then somewhere inside it. */
function readEntry(scanner: JsonScanner, owners: Map<string, string>): Entry | 'MALFORMED' | 'TOO_LARGE' {
  try {
    return readEntryValue(scanner, owners)
  } catch (error) {
    if (error instanceof JsonTooLongError) return 'TOO_LARGE'
    if (!(error instanceof BadEntry)) throw error
    return error.code
  }
}

function readEntryValue(scanner: JsonScanner, owners: Map<string, string>): Entry {
  const kind = scanner.kind()
  if (kind !== 'object') return { ...NO_ENTRY, value: readText(scanner, MAX_VALUE_BYTES) ?? '' }
  const entry = { ...NO_ENTRY }
  const nextField = scanner.openObject()
  let fields = 0
  for (let field = nextField(); field !== undefined; field = nextField()) {
    if (++fields > MAX_JSON_FIELDS) throw new BadEntry('TOO_LARGE')
    readEntryField(scanner, foldKey(field), entry)
  }
  const owner = owners.get(entry.owner)
  if (owner === undefined) owners.set(entry.owner, entry.owner)
  else entry.owner = owner
  return entry
}

function readEntryField(scanner: JsonScanner, field: string, entry: Mutable<Entry>): void {
  switch (field) {
    case 'value':
      entry.value = readText(scanner, MAX_VALUE_BYTES) ?? entry.value
      return
    case 'owner':
      entry.owner = readText(scanner, MAX_OWNER_BYTES) ?? entry.owner
      return
    case 'version':
      entry.version = readInteger(scanner, 0n, MAX_VERSION) ?? entry.version
      return
    case 'updatedat': {
      const most = BigInt(Number.MAX_SAFE_INTEGER)
      entry.updatedAt = Number(readInteger(scanner, -most, most) ?? entry.updatedAt)
      return
    }
    case 'deleted':
      if (scanner.kind() === 'null') scanner.null()
      else if (scanner.kind() === 'boolean') entry.deleted = scanner.boolean()
      else throw new BadEntry('MALFORMED')
      return
    case 'sig':
      entry.sig = readSignature(scanner)
      return
    default:
      scanner.skip(MAX_SKIPPED_FIELD_BYTES)
  }
}

/** Undefined for `null`, which leaves a field as it is. */
function readText(scanner: JsonScanner, maxBytes: number): string | undefined {
  const kind = scanner.kind()
  if (kind === 'null') {
    scanner.null()
    return undefined
  }
  if (kind !== 'string') throw new BadEntry('MALFORMED')
  const text = scanner.string()
  if (text.length > maxBytes || utf8Length(text) > maxBytes) throw new BadEntry('TOO_LARGE')
  return text
}

function readInteger(scanner: JsonScanner, least: bigint, most: bigint): bigint | undefined {
  const kind = scanner.kind()
  if (kind === 'null') {
    scanner.null()
    return undefined
  }
  if (kind !== 'number') throw new BadEntry('MALFORMED')
  const text = scanner.number()
  if (text.length > 20 || !/^-?\d+$/.test(text)) throw new BadEntry('MALFORMED')
  const value = BigInt(text)
  if (value < least || value > most) throw new BadEntry('MALFORMED')
  return value
}

/** Standard base64 with padding; Go skips line ends inside. Nothing signed is `null`. */
function readSignature(scanner: JsonScanner): Uint8Array | null {
  const text = readText(scanner, MAX_SIG_TEXT)
  if (text === undefined) return null
  const plain = text.replace(/[\r\n]/g, '')
  if (plain === '') return null
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw new BadEntry('MALFORMED')
  const binary = atob(plain)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** Go matches field names without regard to case, by Unicode's simple folding. */
export function foldKey(name: string): string {
  const lower = name.toLowerCase()
  return lower.includes('\u017f') ? lower.replaceAll('\u017f', 's') : lower
}

/** Names of refused entries stay short in events and logs. */
function cut(name: string): string {
  return name.length > MAX_BUCKET_BYTES ? name.slice(0, MAX_BUCKET_BYTES).toWellFormed() : name
}

/**
 * Reads one block's JSON entry by entry, as Go reads it (docs/WIRE.md 4.1 and 4.2): keys in any case, bare
 * values, exact versions. One bad entry is reported and skipped; what came before a syntax error stays.
 */
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { createJsonScanner, type JsonScanner, JsonSyntaxError } from '../legacy/json-scanner.ts'
import {
  MAX_BLOCK_BYTES,
  MAX_BLOCK_ENTRIES,
  MAX_BUCKET_BYTES,
  MAX_KEY_BYTES,
  MAX_OWNER_BYTES,
  MAX_VALUE_BYTES,
  MAX_VERSION,
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
  const scanner = createJsonScanner(json)
  try {
    if (scanner.kind() === 'null') scanner.null()
    else {
      const nextField = scanner.openObject()
      for (let field = nextField(); field !== undefined; field = nextField()) {
        if (foldKey(field) === 'storage') yield* decodeStorage(scanner)
        else readHeadField(scanner, foldKey(field), head)
      }
    }
    scanner.end()
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof BadEntry)) throw error
    yield { type: 'refused', code: error instanceof BadEntry ? error.code : 'MALFORMED', bucket: '', key: '' }
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

function readHeadField(
  scanner: JsonScanner,
  field: string,
  head: { index: number; timestamp: string; hash: string; prevHash: string },
): void {
  if (field === 'index') head.index = Number(readInteger(scanner, -MAX_VERSION, MAX_VERSION) ?? head.index)
  else if (field === 'timestamp') head.timestamp = readText(scanner, 256) ?? head.timestamp
  else if (field === 'hash') head.hash = readText(scanner, 256) ?? head.hash
  else if (field === 'prevhash') head.prevHash = readText(scanner, 256) ?? head.prevHash
  else scanner.skip()
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
      if (++count > MAX_BLOCK_ENTRIES) throw new BadEntry('TOO_LARGE')
      const fits = bucketFits && utf8Length(key) <= MAX_KEY_BYTES
      const entry = readEntry(scanner, owners)
      if (typeof entry === 'string' || !fits) {
        const code = typeof entry === 'string' ? entry : 'TOO_LARGE'
        yield { type: 'refused', code, bucket: cut(bucket), key: cut(key) }
      } else yield { type: 'entry', keyed: { bucket, key, entry } }
    }
  }
}

/** One entry, or why it is none; leaves the scanner behind the value either way. */
function readEntry(scanner: JsonScanner, owners: Map<string, string>): Entry | 'MALFORMED' | 'TOO_LARGE' {
  scanner.kind()
  const start = scanner.offset
  try {
    return readEntryValue(scanner, owners)
  } catch (error) {
    if (!(error instanceof BadEntry)) throw error
    scanner.seek(start)
    scanner.skip()
    return error.code
  }
}

function readEntryValue(scanner: JsonScanner, owners: Map<string, string>): Entry {
  const kind = scanner.kind()
  if (kind !== 'object') return { ...NO_ENTRY, value: readText(scanner, MAX_VALUE_BYTES) ?? '' }
  const entry = { ...NO_ENTRY }
  const nextField = scanner.openObject()
  for (let field = nextField(); field !== undefined; field = nextField()) {
    readEntryField(scanner, foldKey(field), entry)
  }
  const owner = owners.get(entry.owner)
  if (owner === undefined) owners.set(entry.owner, entry.owner)
  else entry.owner = owner
  return entry
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

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
      scanner.skip()
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

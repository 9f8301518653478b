/**
 * Reads the fields of blocks and entries as Go's JSON decoder does (docs/WIRE.md 4.1 and 4.2). Names come in any case, `null`
 * leaves a field as it is, a bare value stands for an entry, base64 may contain line ends, versions are exact.
 */
import { utf8Length } from '../entries/utf8-length.ts'
import type { Entry } from '../entries/entry.ts'
import {
  MAX_ENTRY_TEXT_BYTES,
  MAX_FIELD_NAME_BYTES,
  MAX_JSON_FIELDS,
  MAX_OWNER_BYTES,
  MAX_SKIPPED_FIELD_BYTES,
  MAX_VALUE_BYTES,
  MAX_VERSION,
} from '../limits.ts'
import type { BlockHead } from '../snapshot.ts'
import { type JsonScanner, JsonTooLongError } from './json-scanner.ts'

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

const NO_ENTRY: Entry = { value: '', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }
/** A signature has 64 bytes; a longer one is not even kept to be refused. */
const MAX_SIG_TEXT = 256

/** The fault of one entry; the block around it may go on. */
export class Unreadable extends Error {
  readonly code: 'MALFORMED' | 'TOO_LARGE'
  constructor(code: 'MALFORMED' | 'TOO_LARGE') {
    super(code)
    this.code = code
  }
}

/** Reads one field of a block's head; false for one that is not known, whose value is then still to be skipped. */
export function readHeadField(scanner: JsonScanner, name: string, head: Mutable<BlockHead>): boolean {
  const field = foldKey(name)
  if (field === 'index') head.index = Number(readInteger(scanner, -MAX_VERSION, MAX_VERSION) ?? head.index)
  else if (field === 'timestamp') head.timestamp = readText(scanner, 256) ?? head.timestamp
  else if (field === 'hash') head.hash = readText(scanner, 256) ?? head.hash
  else if (field === 'prevhash') head.prevHash = readText(scanner, 256) ?? head.prevHash
  else return false
  return true
}

/**
 * Reads one entry, or says why it is none: the scanner is then somewhere inside the value.
 *
 * @param owners the owners of this block that were read already, so that each text is held once
 */
export function readEntry(
  scanner: JsonScanner,
  owners: Map<string, string>,
): Entry | 'MALFORMED' | 'TOO_LARGE' {
  try {
    return readEntryValue(scanner, owners)
  } catch (error) {
    if (error instanceof JsonTooLongError) return 'TOO_LARGE'
    if (!(error instanceof Unreadable)) throw error
    return error.code
  }
}

function readEntryValue(scanner: JsonScanner, owners: Map<string, string>): Entry {
  const kind = scanner.kind()
  if (kind !== 'object') return { ...NO_ENTRY, value: readText(scanner, MAX_VALUE_BYTES) ?? '' }
  const entry = { ...NO_ENTRY }
  const start = scanner.offset
  const nextField = scanner.openObject(MAX_FIELD_NAME_BYTES)
  let fields = 0
  for (let field = nextField(); field !== undefined; field = nextField()) {
    const isTooMuch = scanner.offset - start > MAX_ENTRY_TEXT_BYTES
    if (++fields > MAX_JSON_FIELDS || isTooMuch) throw new Unreadable('TOO_LARGE')
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
      else throw new Unreadable('MALFORMED')
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
  if (kind !== 'string') throw new Unreadable('MALFORMED')
  const text = scanner.string()
  if (text.length > maxBytes || utf8Length(text) > maxBytes) throw new Unreadable('TOO_LARGE')
  return text
}

function readInteger(scanner: JsonScanner, least: bigint, most: bigint): bigint | undefined {
  const kind = scanner.kind()
  if (kind === 'null') {
    scanner.null()
    return undefined
  }
  if (kind !== 'number') throw new Unreadable('MALFORMED')
  const text = scanner.number()
  if (text.length > 20 || !/^-?\d+$/.test(text)) throw new Unreadable('MALFORMED')
  const value = BigInt(text)
  if (value < least || value > most) throw new Unreadable('MALFORMED')
  return value
}

/** Standard base64 with padding; Go skips line ends inside. Nothing signed is `null`. */
function readSignature(scanner: JsonScanner): Uint8Array | null {
  const text = readText(scanner, MAX_SIG_TEXT)
  if (text === undefined) return null
  const plain = text.replace(/[\r\n]/g, '')
  if (plain === '') return null
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) throw new Unreadable('MALFORMED')
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

/**
 * `/mesh/file/1`: a receiver fetches what a sender offers under a name. The receiver sends `request`. The sender answers with
 * `offer` and the manifest in parts, or with `refusal`. The receiver asks for files by `want`, some ahead, and gets each as
 * `begin`, `data`, `end` in that order. `done` tells the sender that everything is stored. `busy` says that a long file is
 * being compared.
 *
 * ```proto
 * message FileMessage { oneof kind {
 *   Request request = 1; Offer offer = 2; Entry entry = 3 (repeated); Refusal refusal = 4;
 *   Want want = 5; Begin begin = 6; bytes data = 7; End end = 8; Done done = 9; Busy busy = 10; } }
 * message Request { string name = 1; bytes entries = 2; bool any_names = 3; }
 * message Offer { string name = 1; bool folder = 2; uint32 entries = 3; uint32 left_out = 4; repeated string left_out_name = 5; }
 * message Entry { bytes path = 1; bool folder = 2; uint64 size = 3; uint64 modified_ms = 4; bool executable = 5; }
 * message Refusal { uint32 code = 1; string reason = 2; }
 * message Want { uint32 index = 1; uint64 offset = 2; bytes sha256 = 3; }
 * message Begin { uint32 index = 1; uint64 offset = 2; }
 * message End { uint32 index = 1; bytes sha256 = 2; bool changed = 3; }
 * message Done { bool verified = 1; uint32 left_out = 2; repeated string left_out_name = 3; }
 * message Busy { bool working = 1; }
 * ```
 */
import { type Reader, reader, writer } from 'protons-runtime'
import { type LeftOut, LeftOutList } from './left-out.ts'
import { MANIFEST_PART_BYTES, MAX_LEFT_OUT_NAMES, MAX_MESSAGE_FIELDS, MAX_REASON_BYTES } from './limits.ts'
import type { ManifestEntry } from './manifest.ts'
import { decodePath, encodePath, pathByteLength } from './path-bytes.ts'

/** Why a sender gives nothing; numbers of the wire. */
export const REFUSAL = {
  unknownName: 1,
  notAnnounced: 2,
  busy: 3,
  unreadable: 4,
  badRequest: 5,
  forbidden: 6,
} as const

export type FileMessage =
  /** `entries`: the receiver's own in `users` and `healthcheck` as a block, for a sender that has not heard of it. */
  | {
      readonly type: 'request'
      readonly name: string
      readonly entries: Uint8Array
      /** The receiver judges itself which names it can have; else it takes only those that every system can have. */
      readonly anyNames: boolean
    }
  | {
      readonly type: 'offer'
      readonly name: string
      readonly isFolder: boolean
      readonly entryCount: number
      /** Entries that the sender does not send. */
      readonly leftOut: LeftOut
    }
  | { readonly type: 'entries'; readonly entries: readonly ManifestEntry[] }
  | { readonly type: 'refusal'; readonly code: number; readonly reason: string }
  /** The receiver holds `offset` bytes of the entry, with this SHA-256 (32 bytes; empty at offset 0). */
  | { readonly type: 'want'; readonly index: number; readonly offset: number; readonly sha256: Uint8Array }
  /** Data of the entry follows, from `offset`: what was asked for, or 0 where the sender holds other bytes. */
  | { readonly type: 'begin'; readonly index: number; readonly offset: number }
  | { readonly type: 'data'; readonly bytes: Uint8Array }
  /** SHA-256 of the whole file; `hasChanged`: it is not any more what the manifest says. */
  | {
      readonly type: 'end'
      readonly index: number
      readonly sha256: Uint8Array
      readonly hasChanged: boolean
    }
  /** All stands that the receiver can have. */
  | { readonly type: 'done'; readonly leftOut: LeftOut }
  /** Nothing else can be said for now: a long file is being compared. */
  | { readonly type: 'busy' }

const LENGTH_DELIMITED = 2
const tagOf = (field: number, wire: number) => (field << 3) | wire
const DATA_TAG = tagOf(7, LENGTH_DELIMITED)
const ENTRY_TAG = tagOf(3, LENGTH_DELIMITED)

/** Encodes what stands before the bytes of a `data` message of this many bytes. */
export function dataHeader(byteCount: number): Uint8Array {
  return writer().uint32(DATA_TAG).uint32(byteCount).finish()
}

export function encodeFileMessage(message: FileMessage): Uint8Array {
  const out = writer()
  const nested = (field: number, bytes: Uint8Array) =>
    out.uint32(tagOf(field, LENGTH_DELIMITED)).bytes(bytes).finish()
  switch (message.type) {
    case 'request':
      return nested(1, fields([1, message.name], [2, message.entries], [3, message.anyNames]))
    case 'offer':
      return nested(
        2,
        fields(
          [1, message.name],
          [2, message.isFolder],
          [3, message.entryCount],
          ...leftOutFields(4, message.leftOut),
        ),
      )
    case 'entries':
      return encodeEntries(message.entries)
    case 'refusal':
      return nested(4, fields([1, message.code], [2, message.reason]))
    case 'want':
      return nested(5, fields([1, message.index], [2, message.offset], [3, message.sha256]))
    case 'begin':
      return nested(6, fields([1, message.index], [2, message.offset]))
    case 'data':
      return out.uint32(DATA_TAG).bytes(message.bytes).finish()
    case 'end':
      return nested(8, fields([1, message.index], [2, message.sha256], [3, message.hasChanged]))
    case 'done':
      return nested(9, fields([1, true], ...leftOutFields(2, message.leftOut)))
    case 'busy':
      return nested(10, fields([1, true]))
  }
}

/** A manifest's entries as messages of bounded size, in order. */
export function* manifestParts(entries: readonly ManifestEntry[]): Generator<FileMessage> {
  let part: ManifestEntry[] = []
  let bytes = 0
  for (const entry of entries) {
    const size = pathByteLength(entry.path) + ENTRY_OVERHEAD_BYTES
    if (part.length > 0 && bytes + size > MANIFEST_PART_BYTES) {
      yield { type: 'entries', entries: part }
      part = []
      bytes = 0
    }
    part.push(entry)
    bytes += size
  }
  if (part.length > 0) yield { type: 'entries', entries: part }
}

/** Tags, lengths and numbers of one entry beside its path, at the most. */
const ENTRY_OVERHEAD_BYTES = 40

/** Undefined when it does not decode, or has too many fields; `data` is a view into `bytes`. */
export function decodeFileMessage(bytes: Uint8Array): FileMessage | undefined {
  try {
    return decode(reader(bytes))
  } catch {
    return undefined
  }
}

function decode(input: Reader): FileMessage | undefined {
  const entries: ManifestEntry[] = []
  for (let count = 0; input.pos < input.len; count++) {
    if (count === MAX_MESSAGE_FIELDS) return undefined
    const tag = input.uint32()
    if ((tag & 7) !== LENGTH_DELIMITED) {
      input.skipType(tag & 7)
      continue
    }
    if (tag === ENTRY_TAG) {
      entries.push(decodeEntry(input))
      continue
    }
    const body = input.bytes()
    if (tag === DATA_TAG) return { type: 'data', bytes: body }
    const message = decodeNested(tag >>> 3, body)
    if (message !== undefined) return message
  }
  return entries.length > 0 ? { type: 'entries', entries } : undefined
}

function decodeNested(field: number, body: Uint8Array): FileMessage | undefined {
  const read = readFields(body)
  switch (field) {
    case 1:
      return { type: 'request', name: read.text(1), entries: read.bytes(2), anyNames: read.flag(3) }
    case 2: {
      const leftOut = readLeftOut(read, 4)
      const [name, entryCount] = [read.text(1), read.number(3)]
      return { type: 'offer', name, isFolder: read.flag(2), entryCount, leftOut }
    }
    case 4: {
      const reason = read.bytes(2).byteLength <= MAX_REASON_BYTES ? read.text(2) : ''
      return { type: 'refusal', code: read.number(1), reason }
    }
    case 5:
      return { type: 'want', index: read.number(1), offset: read.number(2), sha256: read.bytes(3) }
    case 6:
      return { type: 'begin', index: read.number(1), offset: read.number(2) }
    case 8:
      return { type: 'end', index: read.number(1), sha256: read.bytes(2), hasChanged: read.flag(3) }
    case 9:
      return { type: 'done', leftOut: readLeftOut(read, 2) }
    case 10:
      return { type: 'busy' }
    default:
      return undefined
  }
}

/** Two fields: the number, and behind it the names. */
function leftOutFields(first: number, { count, names }: LeftOut): [number, string | number][] {
  if (count === 0) return []
  return [[first, count], ...names.map((name): [number, string] => [first + 1, name])]
}

function readLeftOut(read: ReturnType<typeof readFields>, first: number): LeftOut {
  const leftOut = new LeftOutList()
  leftOut.addAll({ count: read.number(first), names: read.texts(first + 1) })
  return leftOut
}

/** Writes many entries into one block, without an array for each field: lists are long, and many receivers ask for them. */
function encodeEntries(entries: readonly ManifestEntry[]): Uint8Array {
  const out = writer()
  for (const { path, isFolder, size, modifiedMs, isExecutable } of entries) {
    out.uint32(ENTRY_TAG).fork().uint32(tagOf(1, LENGTH_DELIMITED)).bytes(encodePath(path))
    out.uint32(tagOf(2, 0)).bool(isFolder).uint32(tagOf(3, 0)).uint64Number(size)
    out.uint32(tagOf(4, 0)).uint64Number(Math.max(0, modifiedMs))
    out.uint32(tagOf(5, 0)).bool(isExecutable).ldelim()
  }
  return out.finish()
}

/** Reads one of many entries without anything between the bytes and what it makes of them. */
function decodeEntry(input: Reader): ManifestEntry {
  const end = input.uint32() + input.pos
  let path = NO_BYTES
  let [isFolder, isExecutable, size, modifiedMs] = [false, false, 0, 0]
  while (input.pos < end) {
    const tag = input.uint32()
    if (tag === tagOf(1, LENGTH_DELIMITED)) path = input.bytes()
    else if (tag === tagOf(2, 0)) isFolder = input.uint64Number() !== 0
    else if (tag === tagOf(3, 0)) size = input.uint64Number()
    else if (tag === tagOf(4, 0)) modifiedMs = input.uint64Number()
    else if (tag === tagOf(5, 0)) isExecutable = input.uint64Number() !== 0
    else input.skipType(tag & 7)
  }
  if (input.pos !== end) throw new RangeError('an entry ends within a field')
  return { path: decodePath(path), isFolder, size, modifiedMs, isExecutable }
}

function fields(
  ...pairs: readonly (readonly [number, string | number | boolean | Uint8Array])[]
): Uint8Array {
  const out = writer()
  for (const [field, value] of pairs) {
    if (typeof value === 'string') out.uint32(tagOf(field, LENGTH_DELIMITED)).string(value)
    else if (typeof value === 'number') out.uint32(tagOf(field, 0)).uint64Number(value)
    else if (typeof value === 'boolean') out.uint32(tagOf(field, 0)).bool(value)
    else out.uint32(tagOf(field, LENGTH_DELIMITED)).bytes(value)
  }
  return out.finish()
}

/** Text may begin with a byte order mark, which is a character of it. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NO_BYTES = new Uint8Array(0)

/** Keeps the last values of a field, as many as any field may have. */
function lastOf(values: readonly Uint8Array[] = [], value: Uint8Array): readonly Uint8Array[] {
  return [...values.slice(1 - MAX_LEFT_OUT_NAMES), value]
}

/** The values of each field by its number, of which the last one counts. @throws what the reader throws, and for text that is no UTF-8 */
function readFields(body: Uint8Array) {
  const numbers = new Map<number, number>()
  const texts = new Map<number, readonly Uint8Array[]>()
  const input = reader(body)
  while (input.pos < input.len) {
    const tag = input.uint32()
    const field = tag >>> 3
    if ((tag & 7) === 0) numbers.set(field, input.uint64Number())
    else if ((tag & 7) === LENGTH_DELIMITED) texts.set(field, lastOf(texts.get(field), input.bytes()))
    else input.skipType(tag & 7)
  }
  const last = (field: number) => texts.get(field)?.at(-1) ?? NO_BYTES
  return {
    number: (field: number) => numbers.get(field) ?? 0,
    flag: (field: number) => (numbers.get(field) ?? 0) !== 0,
    bytes: last,
    text: (field: number) => utf8.decode(last(field)),
    texts: (field: number) => (texts.get(field) ?? []).map((bytes) => utf8.decode(bytes)),
  }
}

/**
 * Turns as protobuf. Positions repeat a lot, so within one message a position leaves out its bucket when it is that
 * of the position before, and a range leaves out its start when the range before ended there.
 */
import type { Entry, KeyedEntry, Position } from '@mesh/ledger'
import { type Codec, decodeMessage, encodeMessage, message, type Reader, type Writer } from 'protons-runtime'
import { MAX_LIST_ITEMS, MAX_TURN_ITEMS } from './limits.ts'
import type { Hello, ListItem, RangeClaim, RangeList, Refusal, Turn } from './turn.ts'

export function encodeTurn(turn: Turn): Uint8Array {
  return encodeMessage(turn, turnCodec)
}

/** Undefined when the bytes are no turn, or one over the bounds. */
export function decodeTurn(bytes: Uint8Array): Turn | undefined {
  try {
    return decodeMessage(bytes, turnCodec)
  } catch {
    return undefined
  }
}

/** A field's tag: its number and its wire type (0 varint, 1 and 5 fixed 64 and 32, 2 with a length). */
const tag = (field: number, wireType: 0 | 1 | 2 | 5) => (field << 3) | wireType

const TURN = {
  hello: tag(1, 2),
  range: tag(2, 2),
  list: tag(3, 2),
  want: tag(4, 2),
  entry: tag(5, 2),
  refused: tag(6, 2),
  more: tag(7, 0),
}
const HELLO = { size: tag(1, 0), digest: tag(2, 2), heartbeats: tag(3, 2) }
const RANGE = {
  from: tag(1, 2),
  to: tag(2, 2),
  continued: tag(3, 0),
  count: tag(4, 0),
  fingerprint: tag(5, 2),
  item: tag(6, 2),
}
const POSITION = { bucket: tag(1, 2), key: tag(2, 2) }
const ITEM = {
  position: tag(1, 2),
  version: tag(2, 1),
  hash: tag(3, 2),
  owner: tag(4, 5),
  deleted: tag(5, 0),
}
const ENTRY = {
  position: tag(1, 2),
  value: tag(2, 2),
  owner: tag(3, 2),
  version: tag(4, 1),
  updatedAt: tag(5, 0),
  deleted: tag(6, 0),
  sig: tag(7, 2),
}
const REFUSED = { hash: tag(1, 2), code: tag(2, 2) }

/** What a message has said so far, for what the next field may leave out. */
interface Context {
  bucket: string
  end: Position | undefined
}

const turnCodec: Codec<Turn, Turn> = message<Turn, Turn>(writeTurn, readTurn, function* () {})

function writeTurn(turn: Turn, writer: Writer): void {
  const context: Context = { bucket: '', end: undefined }
  const part = (id: number, write: () => void) => {
    writer.uint32(id).fork()
    write()
    writer.ldelim()
  }
  const { hello } = turn
  if (hello !== undefined) part(TURN.hello, () => writeHello(hello, writer))
  for (const range of turn.ranges) part(TURN.range, () => writeRange(range, writer, context))
  for (const list of turn.lists) part(TURN.list, () => writeList(list, writer, context))
  for (const want of turn.wants) part(TURN.want, () => writePosition(want, writer, context))
  for (const entry of turn.entries) part(TURN.entry, () => writeEntry(entry, writer, context))
  for (const refusal of turn.refused) {
    part(TURN.refused, () => {
      writer.uint32(REFUSED.hash).bytes(refusal.hash).uint32(REFUSED.code).string(refusal.code)
    })
  }
  if (turn.more) writer.uint32(TURN.more).bool(true)
}

function writeHello(hello: Hello, writer: Writer): void {
  writer.uint32(HELLO.size).uint32(hello.size)
  writer.uint32(HELLO.digest).bytes(hello.digest)
  writer.uint32(HELLO.heartbeats).bytes(hello.heartbeats)
}

function writePosition(position: Position, writer: Writer, context: Context): void {
  if (position.bucket !== context.bucket) writer.uint32(POSITION.bucket).string(position.bucket)
  context.bucket = position.bucket
  if (position.key !== '') writer.uint32(POSITION.key).string(position.key)
}

function writeNestedPosition(id: number, position: Position, { writer, context }: Output): void {
  writer.uint32(id).fork()
  writePosition(position, writer, context)
  writer.ldelim()
}

interface Output {
  readonly writer: Writer
  readonly context: Context
}

function writeBounds(range: RangeClaim | RangeList, writer: Writer, context: Context): void {
  const { from, to } = range
  if (from !== undefined) {
    if (from.bucket === context.end?.bucket && from.key === context.end.key) {
      writer.uint32(RANGE.continued).bool(true)
    } else writeNestedPosition(RANGE.from, from, { writer, context })
  }
  if (to !== undefined) writeNestedPosition(RANGE.to, to, { writer, context })
  context.end = to
}

function writeRange(range: RangeClaim, writer: Writer, context: Context): void {
  writeBounds(range, writer, context)
  writer.uint32(RANGE.count).uint32(range.count)
  writer.uint32(RANGE.fingerprint).bytes(range.fingerprint)
}

function writeList(list: RangeList, writer: Writer, context: Context): void {
  writeBounds(list, writer, context)
  for (const item of list.items) {
    writer.uint32(RANGE.item).fork()
    writeNestedPosition(ITEM.position, item, { writer, context })
    writer.uint32(ITEM.version).fixed64(item.version)
    writer.uint32(ITEM.hash).bytes(item.hash)
    writer.uint32(ITEM.owner).fixed32(item.ownerTag)
    if (item.deleted) writer.uint32(ITEM.deleted).bool(true)
    writer.ldelim()
  }
}

function writeEntry({ bucket, key, entry }: KeyedEntry, writer: Writer, context: Context): void {
  writeNestedPosition(ENTRY.position, { bucket, key }, { writer, context })
  if (entry.value !== '') writer.uint32(ENTRY.value).string(entry.value)
  if (entry.owner !== '') writer.uint32(ENTRY.owner).string(entry.owner)
  writer.uint32(ENTRY.version).fixed64(entry.version)
  writer.uint32(ENTRY.updatedAt).int64(BigInt(entry.updatedAt))
  if (entry.deleted) writer.uint32(ENTRY.deleted).bool(true)
  if (entry.sig !== null) writer.uint32(ENTRY.sig).bytes(entry.sig)
}

/** Calls `field` with each tag; it returns false for one that it does not know, which is then skipped. */
function readFields(reader: Reader, end: number, field: (id: number) => boolean): void {
  if (end > reader.len) throw new RangeError('a field ends behind the message')
  while (reader.pos < end) {
    const id = reader.uint32()
    if (!field(id)) reader.skipType(id & 7)
  }
  if (reader.pos !== end) throw new RangeError('a field runs over its end')
}

function readTurn(reader: Reader, length?: number): Turn {
  const context: Context = { bucket: '', end: undefined }
  const ranges: RangeClaim[] = []
  const lists: RangeList[] = []
  const wants: Position[] = []
  const entries: KeyedEntry[] = []
  const refused: Refusal[] = []
  let hello: Hello | undefined
  let more = false
  let parts = 0
  readFields(reader, length === undefined ? reader.len : reader.pos + length, (id) => {
    if (++parts > MAX_TURN_ITEMS) throw new RangeError('too many parts')
    if (id === TURN.hello) hello = readHello(reader)
    else if (id === TURN.range) ranges.push(readRange(reader, context))
    else if (id === TURN.list) lists.push(readList(reader, context))
    else if (id === TURN.want) wants.push(readPosition(reader, context))
    else if (id === TURN.entry) entries.push(readEntry(reader, context))
    else if (id === TURN.refused) refused.push(readRefusal(reader))
    else if (id === TURN.more) more = reader.bool()
    else return false
    return true
  })
  return { ...(hello === undefined ? {} : { hello }), ranges, lists, wants, entries, refused, more }
}

/** The end of a nested message whose length comes next. */
function endOf(reader: Reader): number {
  const length = reader.uint32()
  return reader.pos + length
}

function readHello(reader: Reader): Hello {
  let size = 0
  let digest: Uint8Array = new Uint8Array()
  let heartbeats: Uint8Array = new Uint8Array()
  readFields(reader, endOf(reader), (id) => {
    if (id === HELLO.size) size = reader.uint32()
    else if (id === HELLO.digest) digest = reader.bytes()
    else if (id === HELLO.heartbeats) heartbeats = reader.bytes()
    else return false
    return true
  })
  return { size, digest, heartbeats }
}

function readPosition(reader: Reader, context: Context): Position {
  let { bucket } = context
  let key = ''
  readFields(reader, endOf(reader), (id) => {
    if (id === POSITION.bucket) bucket = reader.string()
    else if (id === POSITION.key) key = reader.string()
    else return false
    return true
  })
  context.bucket = bucket
  return { bucket, key }
}

function readBounds(reader: Reader, context: Context, other: (id: number) => boolean) {
  let from: Position | undefined
  let to: Position | undefined
  const previousEnd = context.end
  readFields(reader, endOf(reader), (id) => {
    if (id === RANGE.from) from = readPosition(reader, context)
    else if (id === RANGE.to) to = readPosition(reader, context)
    else if (id === RANGE.continued) {
      if (reader.bool()) from = previousEnd
    } else return other(id)
    return true
  })
  context.end = to
  return { from, to }
}

function readRange(reader: Reader, context: Context): RangeClaim {
  let count = 0
  let fingerprint: Uint8Array = new Uint8Array()
  const bounds = readBounds(reader, context, (id) => {
    if (id === RANGE.count) count = reader.uint32()
    else if (id === RANGE.fingerprint) fingerprint = reader.bytes()
    else return false
    return true
  })
  return { ...bounds, count, fingerprint }
}

function readList(reader: Reader, context: Context): RangeList {
  const items: ListItem[] = []
  const bounds = readBounds(reader, context, (id) => {
    if (id !== RANGE.item) return false
    if (items.length === MAX_LIST_ITEMS) throw new RangeError('a list is too long')
    items.push(readItem(reader, context))
    return true
  })
  return { ...bounds, items }
}

function readItem(reader: Reader, context: Context): ListItem {
  let position: Position = { bucket: context.bucket, key: '' }
  let version = 0n
  let hash: Uint8Array = new Uint8Array()
  let ownerTag = 0
  let deleted = false
  readFields(reader, endOf(reader), (id) => {
    if (id === ITEM.position) position = readPosition(reader, context)
    else if (id === ITEM.version) version = BigInt.asUintN(64, reader.fixed64())
    else if (id === ITEM.hash) hash = reader.bytes()
    else if (id === ITEM.owner) ownerTag = reader.fixed32()
    else if (id === ITEM.deleted) deleted = reader.bool()
    else return false
    return true
  })
  return { ...position, version, hash, ownerTag, deleted }
}

function readEntry(reader: Reader, context: Context): KeyedEntry {
  let position: Position = { bucket: context.bucket, key: '' }
  const entry: { -readonly [Field in keyof Entry]: Entry[Field] } = {
    value: '',
    owner: '',
    version: 0n,
    updatedAt: 0,
    deleted: false,
    sig: null,
  }
  readFields(reader, endOf(reader), (id) => {
    if (id === ENTRY.position) position = readPosition(reader, context)
    else if (id === ENTRY.value) entry.value = reader.string()
    else if (id === ENTRY.owner) entry.owner = reader.string()
    else if (id === ENTRY.version) entry.version = BigInt.asUintN(64, reader.fixed64())
    else if (id === ENTRY.updatedAt) entry.updatedAt = readSafeInteger(reader)
    else if (id === ENTRY.deleted) entry.deleted = reader.bool()
    // A copy: the entry outlives the message's buffer.
    else if (id === ENTRY.sig) entry.sig = reader.bytes().slice()
    else return false
    return true
  })
  return { ...position, entry }
}

function readSafeInteger(reader: Reader): number {
  const value = Number(reader.int64())
  if (!Number.isSafeInteger(value)) throw new RangeError('a time out of range')
  return value
}

function readRefusal(reader: Reader): Refusal {
  let hash: Uint8Array = new Uint8Array()
  let code = ''
  readFields(reader, endOf(reader), (id) => {
    if (id === REFUSED.hash) hash = reader.bytes().slice()
    else if (id === REFUSED.code) code = reader.string()
    else return false
    return true
  })
  return { hash, code: code.slice(0, 32) }
}

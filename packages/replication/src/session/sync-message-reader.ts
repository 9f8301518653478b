/** Reads a sync message from protobuf, within bounds; throws where it is none. */
import type { Entry, KeyedEntry, Position } from '@mesh/ledger'
import type { Reader } from 'protons-runtime'
import { MAX_LIST_ITEMS, MAX_MESSAGE_ITEMS, MAX_PART_FIELDS, SHORT_HASH_BYTES } from '../limits.ts'
import type { Hello, ListItem, RangeClaim, RangeList, Refusal, SyncMessage } from './sync-message.ts'
import { type Context, ENTRY, HELLO, ITEM, MESSAGE, POSITION, RANGE, REFUSED } from './sync-message-fields.ts'

export function readSyncMessage(reader: Reader, length?: number): SyncMessage {
  const context: Reading = { bucket: '', end: undefined, parts: 0 }
  const ranges: RangeClaim[] = []
  const lists: RangeList[] = []
  const wants: Position[] = []
  const entries: KeyedEntry[] = []
  const refused: Refusal[] = []
  let hello: Hello | undefined
  let more = false
  const end = length === undefined ? reader.len : reader.pos + length
  const read = (id: number): boolean => {
    countPart(context)
    if (id === MESSAGE.hello) hello = readHello(reader)
    else if (id === MESSAGE.range) ranges.push(readRange(reader, context))
    else if (id === MESSAGE.list) lists.push(readList(reader, context))
    else if (id === MESSAGE.want) wants.push(readPosition(reader, context))
    else if (id === MESSAGE.entry) entries.push(readEntry(reader, context))
    else if (id === MESSAGE.refused) refused.push(readRefusal(reader))
    else if (id === MESSAGE.more) more = reader.bool()
    else return false
    return true
  }
  readFields(reader, { end, most: MAX_MESSAGE_ITEMS }, read)
  return { ...(hello === undefined ? {} : { hello }), ranges, lists, wants, entries, refused, more }
}

/** Where a nested message ends whose length comes next, and how many fields it may have. */
function partOf(reader: Reader, most = MAX_PART_FIELDS): Part {
  const length = reader.uint32()
  return { end: reader.pos + length, most }
}

/** Ends the reading at the first part that is none: there may be tens of thousands. @throws RangeError */
function checkedHash(hash: Uint8Array): Uint8Array {
  if (hash.length !== SHORT_HASH_BYTES) throw new RangeError('no hash')
  return hash
}

/** @throws RangeError when a message has more of them than an honest one has room for */
function countPart(context: Reading): void {
  if (++context.parts > MAX_MESSAGE_ITEMS) throw new RangeError('too many parts')
}

function readHello(reader: Reader): Hello {
  let size = 0
  let digest: Uint8Array = new Uint8Array()
  let heartbeats: Uint8Array = new Uint8Array()
  let nowMs: number | undefined
  readFields(reader, partOf(reader), (id) => {
    if (id === HELLO.size) size = reader.uint32()
    else if (id === HELLO.digest) digest = reader.bytes()
    else if (id === HELLO.heartbeats) heartbeats = reader.bytes()
    else if (id === HELLO.nowMs) nowMs = reader.uint64Number()
    else return false
    return true
  })
  return { size, digest, heartbeats, ...(nowMs === undefined ? {} : { nowMs }) }
}

function readPosition(reader: Reader, context: Reading): Position {
  let { bucket } = context
  let key = ''
  readFields(reader, partOf(reader), (id) => {
    if (id === POSITION.bucket) bucket = reader.string()
    else if (id === POSITION.key) key = reader.string()
    else return false
    return true
  })
  context.bucket = bucket
  return { bucket, key }
}

function readBounds(
  reader: Reader,
  context: Reading,
  { items, other }: { readonly items: number; readonly other: (id: number) => boolean },
) {
  let from: Position | undefined
  let to: Position | undefined
  const previousEnd = context.end
  readFields(reader, partOf(reader, items + MAX_PART_FIELDS), (id) => {
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

function readRange(reader: Reader, context: Reading): RangeClaim {
  let count = 0
  let fingerprint: Uint8Array = new Uint8Array()
  const other = (id: number): boolean => {
    if (id === RANGE.count) count = reader.uint32()
    else if (id === RANGE.fingerprint) fingerprint = reader.bytes()
    else return false
    return true
  }
  const bounds = readBounds(reader, context, { items: 0, other })
  return { ...bounds, count, fingerprint }
}

function readList(reader: Reader, context: Reading): RangeList {
  const items: ListItem[] = []
  const other = (id: number): boolean => {
    if (id !== RANGE.item) return false
    if (items.length === MAX_LIST_ITEMS) throw new RangeError('a list is too long')
    countPart(context)
    items.push(readItem(reader, context))
    return true
  }
  const bounds = readBounds(reader, context, { items: MAX_LIST_ITEMS, other })
  return { ...bounds, items }
}

function readItem(reader: Reader, context: Reading): ListItem {
  let position: Position = { bucket: context.bucket, key: '' }
  let version = 0n
  let hash: Uint8Array = new Uint8Array()
  let ownerTag = 0
  let deleted = false
  readFields(reader, partOf(reader), (id) => {
    if (id === ITEM.position) position = readPosition(reader, context)
    else if (id === ITEM.version) version = BigInt.asUintN(64, reader.fixed64())
    else if (id === ITEM.hash) hash = reader.bytes()
    else if (id === ITEM.owner) ownerTag = reader.fixed32()
    else if (id === ITEM.deleted) deleted = reader.bool()
    else return false
    return true
  })
  return { ...position, version, hash: checkedHash(hash), ownerTag, deleted }
}

function readEntry(reader: Reader, context: Reading): KeyedEntry {
  let position: Position = { bucket: context.bucket, key: '' }
  const entry: { -readonly [Field in keyof Entry]: Entry[Field] } = {
    value: '',
    owner: '',
    version: 0n,
    updatedAt: 0,
    deleted: false,
    sig: null,
  }
  readFields(reader, partOf(reader), (id) => {
    if (id === ENTRY.position) position = readPosition(reader, context)
    else if (id === ENTRY.value) entry.value = reader.string()
    else if (id === ENTRY.owner) entry.owner = reader.string()
    else if (id === ENTRY.version) entry.version = BigInt.asUintN(64, reader.fixed64())
    else if (id === ENTRY.updatedAt) entry.updatedAt = readSafeInteger(reader)
    else if (id === ENTRY.deleted) entry.deleted = reader.bool()
    // A copy: the entry outlives the message's buffer.
    else if (id === ENTRY.sig) entry.sig = new Uint8Array(reader.bytes())
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
  readFields(reader, partOf(reader), (id) => {
    if (id === REFUSED.hash) hash = new Uint8Array(reader.bytes())
    else if (id === REFUSED.code) code = reader.string()
    else return false
    return true
  })
  return { hash: checkedHash(hash), code: code.slice(0, 32) }
}

interface Reading extends Context {
  /** The parts read so far, items of lists among them. */
  parts: number
}

/** Where a part of a message ends, and how many fields it may have. */
interface Part {
  readonly end: number
  readonly most: number
}

/** Calls `field` with each tag; it returns false for one that it does not know, which is then skipped. */
function readFields(reader: Reader, { end, most }: Part, field: (id: number) => boolean): void {
  if (end > reader.len) throw new RangeError('a field ends behind the message')
  for (let fields = 0; reader.pos < end; fields++) {
    if (fields === most) throw new RangeError('too many fields')
    const id = reader.uint32()
    if (!field(id)) reader.skipType(id & 7)
  }
  if (reader.pos !== end) throw new RangeError('a field runs over its end')
}

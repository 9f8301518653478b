/** Writes a sync message as protobuf; what the field before says is left out. */
import type { KeyedEntry, Position } from '@mesh/ledger'
import type { Writer } from 'protons-runtime'
import type { Hello, RangeClaim, RangeList, SyncMessage } from './sync-message.ts'
import { type Context, ENTRY, HELLO, ITEM, MESSAGE, POSITION, RANGE, REFUSED } from './sync-message-fields.ts'

export function writeSyncMessage(message: SyncMessage, writer: Writer): void {
  const context: Context = { bucket: '', end: undefined }
  const part = (id: number, write: () => void) => {
    writer.uint32(id).fork()
    write()
    writer.ldelim()
  }
  const { hello } = message
  if (hello !== undefined) part(MESSAGE.hello, () => writeHello(hello, writer))
  for (const range of message.ranges) part(MESSAGE.range, () => writeRange(range, writer, context))
  for (const list of message.lists) part(MESSAGE.list, () => writeList(list, writer, context))
  for (const want of message.wants) part(MESSAGE.want, () => writePosition(want, writer, context))
  for (const entry of message.entries) part(MESSAGE.entry, () => writeEntry(entry, writer, context))
  for (const refusal of message.refused) {
    part(MESSAGE.refused, () => {
      writer.uint32(REFUSED.hash).bytes(refusal.hash).uint32(REFUSED.code).string(refusal.code)
    })
  }
  if (message.more) writer.uint32(MESSAGE.more).bool(true)
}

function writeHello(hello: Hello, writer: Writer): void {
  writer.uint32(HELLO.size).uint32(hello.size)
  writer.uint32(HELLO.digest).bytes(hello.digest)
  writer.uint32(HELLO.heartbeats).bytes(hello.heartbeats)
  if (hello.nowMs !== undefined) writer.uint32(HELLO.nowMs).uint64Number(hello.nowMs)
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

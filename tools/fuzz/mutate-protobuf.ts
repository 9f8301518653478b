/** Changes one field of a protobuf message, or of a message within it, so that all lengths stay right. */
import { type Mutation, varint } from './mutation.ts'

interface Field {
  readonly tag: bigint
  /** Bytes behind the tag; of a field with a length without it. */
  readonly payload: Uint8Array
}

const LENGTH_DELIMITED = 2n
/** How deep a message within messages is changed. */
const MAX_DEPTH = 3

export function mutateProtobuf(bytes: Uint8Array, step: Mutation, depth = 0): Uint8Array {
  const fields = readFields(bytes)
  if (fields === undefined || fields.length === 0) return bytes
  const at = Math.floor(step.at * fields.length)
  const field = fields[at]
  if (field === undefined) return bytes
  return writeFields(fields.toSpliced(at, 1, ...changed(field, step, depth)))
}

/** What stands in the field's place. */
function changed(field: Field, step: Mutation, depth: number): readonly Field[] {
  const { tag, payload } = field
  const inner = { ...step, at: (step.at * 7.3) % 1, count: Math.floor(step.count / 6) }
  switch (step.count % 6) {
    case 0:
      return []
    case 1:
      return [field, field]
    case 2:
      return [{ tag: tag ^ BigInt((step.bytes[0] ?? 1) % 64), payload }]
    case 3:
      return [{ tag, payload: Buffer.concat([payload, step.bytes]) }]
    case 4:
      return [{ tag, payload: payload.subarray(0, Math.floor(step.at * payload.length)) }]
    default:
      return depth < MAX_DEPTH ? [{ tag, payload: mutateProtobuf(payload, inner, depth + 1) }] : [field]
  }
}

/** Undefined for what is no protobuf. */
function readFields(bytes: Uint8Array): Field[] | undefined {
  const fields: Field[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at)
    if (tag === undefined) return undefined
    at = tag.end
    const kind = tag.value & 7n
    const length = kind === LENGTH_DELIMITED ? readVarint(bytes, at) : undefined
    if (kind === LENGTH_DELIMITED && length === undefined) return undefined
    const from = length?.end ?? at
    const end =
      length === undefined
        ? endOf(kind, bytes, at)
        : from + Number(length.value > 1_000_000n ? -1n : length.value)
    if (end === undefined || end < from || end > bytes.length) return undefined
    fields.push({ tag: tag.value, payload: bytes.subarray(from, end) })
    at = end
  }
  return fields
}

function endOf(kind: bigint, bytes: Uint8Array, at: number): number | undefined {
  if (kind === 0n) return readVarint(bytes, at)?.end
  if (kind === 1n) return at + 8
  return kind === 5n ? at + 4 : undefined
}

function readVarint(
  bytes: Uint8Array,
  from: number,
): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n
  for (let at = from; at < bytes.length && at < from + 10; at++) {
    const byte = bytes[at] ?? 0
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - from))
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return undefined
}

function writeFields(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(({ tag, payload }) =>
      (tag & 7n) === LENGTH_DELIMITED
        ? [varint(tag), varint(BigInt(payload.length)), payload]
        : [varint(tag), payload],
    ),
  )
}

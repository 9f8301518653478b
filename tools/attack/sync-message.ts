/** Messages of `/mesh/replication/1` by hand (docs/PROTOCOLS.md, 'Replication'), for what no node would send. */
import { randomBytes } from 'node:crypto'
import { varint } from './attackers.ts'

/** A position in the ledger's order. */
export interface At {
  readonly bucket: string
  readonly key: string
}

/** The first message of a side: a ledger that differs from whatever the other has. */
export function greeting(entries: number): Uint8Array {
  return bytesField(
    1,
    Buffer.concat([numberField(1, entries), bytesField(2, randomBytes(16)), bytesField(3, randomBytes(16))]),
  )
}

/** A range with a fingerprint that nobody has; without bounds it is the whole ledger. */
export function rangeField(from: At | undefined, to: At | undefined, count: number): Uint8Array {
  return bytesField(
    2,
    Buffer.concat([
      ...(from === undefined ? [] : [bytesField(1, position(from))]),
      ...(to === undefined ? [] : [bytesField(2, position(to))]),
      numberField(4, count),
      bytesField(5, randomBytes(32)),
    ]),
  )
}

/** A list of what a ledger holds that nobody has. */
export function listField(items: readonly At[]): Uint8Array {
  const parts = items.map((at) =>
    bytesField(6, Buffer.concat([bytesField(1, position(at)), bytesField(3, randomBytes(16))])),
  )
  return bytesField(3, Buffer.concat(parts))
}

export function wantField(at: At): Uint8Array {
  return bytesField(4, position(at))
}

/** An entry whose signature is none. */
export function entryField(at: At, owner: string): Uint8Array {
  const parts = [
    bytesField(1, position(at)),
    bytesField(2, Buffer.from('1')),
    bytesField(3, Buffer.from(owner)),
  ]
  return bytesField(5, Buffer.concat([...parts, bytesField(7, randomBytes(64))]))
}

/** The refusal of an entry with the first 16 bytes of its hash. */
export function refusedField(hash: Uint8Array, code: string): Uint8Array {
  return bytesField(6, Buffer.concat([bytesField(1, hash), bytesField(2, Buffer.from(code))]))
}

/** Says that there is more to come. */
export const moreField = (): Uint8Array => numberField(7, 1)

/** As many fields without content as there is room for in a message of so many bytes. */
export function emptyFields(number: number, length: number): Uint8Array {
  return Buffer.alloc(length & ~1, Uint8Array.of((number << 3) | 2, 0))
}

/** Lists whose items are empty, as many as there is room for. */
export function listsOfNothing(length: number): Uint8Array {
  const list = bytesField(3, emptyFields(6, 512))
  return Buffer.concat(Array.from({ length: Math.floor(length / list.length) }, () => list))
}

function position({ bucket, key }: At): Uint8Array {
  return Buffer.concat([bytesField(1, Buffer.from(bucket)), bytesField(2, Buffer.from(key))])
}

function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function numberField(number: number, value: number): Uint8Array {
  return Buffer.concat([varint(number << 3), varint(value)])
}

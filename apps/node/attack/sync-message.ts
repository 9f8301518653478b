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

function position({ bucket, key }: At): Uint8Array {
  return Buffer.concat([bytesField(1, Buffer.from(bucket)), bytesField(2, Buffer.from(key))])
}

function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function numberField(number: number, value: number): Uint8Array {
  return Buffer.concat([varint(number << 3), varint(value)])
}

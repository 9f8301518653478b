/**
 * The messages of a control channel of `/mesh/bulk/1` (docs/PROTOCOLS.md, 'Bulk: `/mesh/bulk/1`').
 *
 * ```proto
 * message BulkMessage { Offer offer = 1; Dial dial = 2; }
 * message Offer { bytes identity = 1; bytes key = 2; repeated uint32 port = 3; }
 * message Dial { uint32 count = 1; }
 * ```
 */
import { reader, writer } from 'protons-runtime'
import { IDENTITY_BYTES, KEY_BYTES, MAX_DIAL_BACKS_PER_MINUTE, MAX_OFFERED_PORTS } from './limits.ts'

/** How the sender can be reached: TLS connections that name the identity and prove the key belong to the receiver. */
export interface Offer {
  readonly identity: Uint8Array
  readonly key: Uint8Array
  /** TCP ports at the addresses where the sender is connected; empty: it listens nowhere. */
  readonly ports: readonly number[]
}

export type BulkMessage =
  | ({ readonly type: 'offer' } & Offer)
  /** Asks the receiver to make this many connections to the sender, on which the sender opens streams. */
  | { readonly type: 'dial'; readonly count: number }

const bytesField = (field: number) => (field << 3) | 2
const numberField = (field: number) => field << 3

export function encodeBulkMessage(message: BulkMessage): Uint8Array {
  const part = writer()
  if (message.type === 'dial') part.uint32(numberField(1)).uint32(message.count)
  else {
    part.uint32(bytesField(1)).bytes(message.identity).uint32(bytesField(2)).bytes(message.key)
    for (const port of message.ports) part.uint32(numberField(3)).uint32(port)
  }
  const field = message.type === 'offer' ? 1 : 2
  return writer().uint32(bytesField(field)).bytes(part.finish()).finish()
}

/** Undefined for what is no such message. */
export function decodeBulkMessage(bytes: Uint8Array): BulkMessage | undefined {
  try {
    const input = reader(bytes)
    const tag = input.uint32()
    const part = input.bytes()
    if (tag === bytesField(1)) return decodeOffer(part)
    return tag === bytesField(2) ? decodeDial(part) : undefined
  } catch {
    return undefined
  }
}

function decodeOffer(bytes: Uint8Array): BulkMessage | undefined {
  const offer = { identity: new Uint8Array(), key: new Uint8Array(), ports: new Array<number>() }
  const input = reader(bytes)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === bytesField(1)) offer.identity = Uint8Array.from(input.bytes())
    else if (tag === bytesField(2)) offer.key = Uint8Array.from(input.bytes())
    else if (tag === numberField(3)) offer.ports.push(input.uint32())
    else input.skipType(tag & 7)
  }
  const isRight =
    offer.identity.byteLength === IDENTITY_BYTES &&
    offer.key.byteLength === KEY_BYTES &&
    offer.ports.length <= MAX_OFFERED_PORTS &&
    offer.ports.every((port) => port > 0 && port < 65_536)
  return isRight ? { type: 'offer', ...offer } : undefined
}

function decodeDial(bytes: Uint8Array): BulkMessage | undefined {
  const input = reader(bytes)
  let count = 0
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag === numberField(1)) count = input.uint32()
    else input.skipType(tag & 7)
  }
  return count > 0 && count <= MAX_DIAL_BACKS_PER_MINUTE ? { type: 'dial', count } : undefined
}

/** STUN binding requests and their answers (RFC 8489, sections 5, 6 and 14.2): what a NAT turned an address into. */
import { MAX_STUN_PACKET_BYTES } from './limits.ts'

const BINDING_REQUEST = 0x0001
const BINDING_SUCCESS = 0x0101
const MAGIC_COOKIE = 0x2112a442
const XOR_MAPPED_ADDRESS = 0x0020
const HEADER_BYTES = 20
const TRANSACTION_AT = 8

/** Where a packet came from. */
interface PacketSource {
  readonly address: Uint8Array
  readonly port: number
}

/** The answer to a binding request; undefined for all else, which gets none. */
export function answerStun(request: Uint8Array, source: PacketSource): Uint8Array | undefined {
  if (request.length < HEADER_BYTES || request.length > MAX_STUN_PACKET_BYTES) return undefined
  const asked = new DataView(request.buffer, request.byteOffset, request.length)
  if (asked.getUint16(0) !== BINDING_REQUEST || asked.getUint32(4) !== MAGIC_COOKIE) return undefined
  if (asked.getUint16(2) !== request.length - HEADER_BYTES || request.length % 4 !== 0) return undefined

  const valueBytes = 4 + source.address.length
  const answer = new Uint8Array(HEADER_BYTES + 4 + valueBytes)
  const view = new DataView(answer.buffer)
  view.setUint16(0, BINDING_SUCCESS)
  view.setUint16(2, 4 + valueBytes)
  view.setUint32(4, MAGIC_COOKIE)
  answer.set(request.subarray(TRANSACTION_AT, HEADER_BYTES), TRANSACTION_AT)
  view.setUint16(20, XOR_MAPPED_ADDRESS)
  view.setUint16(22, valueBytes)
  view.setUint8(25, source.address.length === 4 ? 1 : 2)
  view.setUint16(26, source.port ^ (MAGIC_COOKIE >>> 16))
  // the mask is cookie and transaction id, which stand one after the other in the header
  for (const [at, byte] of source.address.entries()) answer[28 + at] = byte ^ (answer[4 + at] ?? 0)
  return answer
}

/**
 * Reads a question as it came: 1 the header alone, before anything is decoded; 2 the one question, whose name must
 * stand there whole; 3 OPT. Bounds every step; what is wrong becomes an answer code, or silence.
 */
import { MAX_NAME_BYTES, MAX_QUERY_ADDITIONALS, MAX_UDP_BYTES, MIN_UDP_BYTES } from '../limits.ts'
import { CLASS_IN, META_TYPES, RCODE, TYPE } from '../record-types.ts'

export const HEADER_BYTES = 12

export interface Query {
  /** The whole packet; its question stands from 12 to `questionEnd`. */
  readonly packet: Buffer
  readonly questionEnd: number
  readonly type: number
  /** Name in lower case, type and class, one character for each byte: equal for questions that ask the same. */
  readonly key: string
  readonly edns: Edns | undefined
}

export interface Edns {
  /** Bytes that the client takes over UDP, within our bounds. */
  readonly maxBytes: number
  /** True when the client wants signatures (DO). */
  readonly dnssecOk: boolean
}

/** `packet` is undefined for what must not be answered at all. */
export interface BadQuery {
  readonly rcode: number
  /** Where the question ends; 12 when none could be read. */
  readonly questionEnd: number
  readonly edns: Edns | undefined
}

/** Undefined: not to be answered (too short, or itself an answer). */
export function readQuery(packet: Buffer): Query | BadQuery | undefined {
  if (packet.length < HEADER_BYTES || (byteAt(packet, 2) & 0x80) !== 0) return undefined
  const bad = (rcode: number, questionEnd = HEADER_BYTES, edns?: Edns) => ({ rcode, questionEnd, edns })
  if ((byteAt(packet, 2) & 0x78) !== 0) return bad(RCODE.NOTIMP)
  if (wordAt(packet, 4) !== 1) return bad(RCODE.FORMERR)
  const nameEnd = endOfName(packet)
  const questionEnd = nameEnd + 4
  if (nameEnd === 0 || questionEnd > packet.length) return bad(RCODE.FORMERR)
  const type = wordAt(packet, nameEnd)
  const isMeta = type >= META_TYPES[0] && type <= META_TYPES[1]
  const additionals = wordAt(packet, 10)
  if (wordAt(packet, 6) !== 0 || wordAt(packet, 8) !== 0 || additionals > MAX_QUERY_ADDITIONALS) {
    // who asks for what changed in a zone says which version it has (RFC 1995)
    return isMeta ? bad(RCODE.REFUSED, questionEnd) : bad(RCODE.FORMERR)
  }
  const edns = additionals === 0 ? undefined : readEdns(packet, questionEnd, additionals)
  if (edns === 'malformed') return bad(RCODE.FORMERR, questionEnd)
  if (edns === 'newer') return bad(RCODE.BADVERS, questionEnd, { maxBytes: MIN_UDP_BYTES, dnssecOk: false })
  if (type === 0 || type === TYPE.OPT) return bad(RCODE.FORMERR, questionEnd, edns)
  if (wordAt(packet, nameEnd + 2) !== CLASS_IN || isMeta) return bad(RCODE.REFUSED, questionEnd, edns)
  return { packet, questionEnd, type, key: keyOf(packet, nameEnd, questionEnd), edns }
}

export function isQuery(read: Query | BadQuery): read is Query {
  return 'key' in read
}

export function byteAt(packet: Uint8Array, at: number): number {
  return packet[at] ?? 0
}

export function wordAt(packet: Uint8Array, at: number): number {
  return (byteAt(packet, at) << 8) | byteAt(packet, at + 1)
}

/** After the root label; 0 for a name that is compressed, cut off or too long. */
function endOfName(packet: Buffer): number {
  let at = HEADER_BYTES
  const limit = Math.min(packet.length, HEADER_BYTES + MAX_NAME_BYTES)
  while (at < limit) {
    const length = byteAt(packet, at)
    if (length === 0) return at + 1
    if (length > 63) return 0
    at += length + 1
  }
  return 0
}

/** Reused: a key is taken out of it before the next query is read. */
const lowered = Buffer.alloc(MAX_NAME_BYTES + 4)

function keyOf(packet: Buffer, nameEnd: number, end: number): string {
  let at = 0
  for (let from = HEADER_BYTES; from < nameEnd; from++) {
    const byte = packet[from] ?? 0
    lowered[at++] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
  }
  for (let from = nameEnd; from < end; from++) lowered[at++] = packet[from] ?? 0
  return lowered.toString('latin1', 0, at)
}

/** OPT has the root name; other records are stepped over. */
function readEdns(packet: Buffer, from: number, records: number): Edns | 'malformed' | 'newer' | undefined {
  let edns: Edns | 'newer' | undefined
  let at = from
  for (let record = 0; record < records; record++) {
    at = endOfRecordName(packet, at)
    if (at === 0 || at + 10 > packet.length) return 'malformed'
    const dataEnd = at + 10 + wordAt(packet, at + 8)
    if (dataEnd > packet.length) return 'malformed'
    if (wordAt(packet, at) === TYPE.OPT) {
      if (edns !== undefined) return 'malformed'
      edns = optAt(packet, at)
    }
    at = dataEnd
  }
  return edns
}

function optAt(packet: Buffer, at: number): Edns | 'newer' {
  if (byteAt(packet, at + 5) !== 0) return 'newer'
  const maxBytes = Math.min(MAX_UDP_BYTES, Math.max(MIN_UDP_BYTES, wordAt(packet, at + 2)))
  return { maxBytes, dnssecOk: (byteAt(packet, at + 6) & 0x80) !== 0 }
}

/** After a name that may be compressed; 0 when it is cut off. */
export function endOfRecordName(packet: Uint8Array, from: number): number {
  for (let at = from; at < packet.length; ) {
    const length = byteAt(packet, at)
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2 <= packet.length ? at + 2 : 0
    if (length > 63 || at - from > MAX_NAME_BYTES) return 0
    at += length + 1
  }
  return 0
}

/**
 * Reads a server's answer without decoding its records.
 *
 * 1. Checks that it answers the question.
 * 2. Finds the records and their TTLs.
 * 3. Says how long the answer may be kept.
 */
import { FAILURE_CACHE_S, MAX_CACHE_S, MAX_NEGATIVE_CACHE_S } from '../limits.ts'
import { RCODE, TYPE } from '../record-types.ts'
import { type Answer, emptyAnswer } from './answer.ts'
import { byteAt, endOfRecordName, HEADER_BYTES, wordAt } from './read-query.ts'

export interface Expected {
  readonly id: number
  /** Name, type and class as they were sent, letters in their case. */
  readonly question: Buffer
}

export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly keepS: number }
  /** To be asked again over TCP: cut off, or the case of the letters was not kept, which proves the sender. */
  | { readonly kind: 'truncated' }
  /** Not the answer to this question: to be ignored. */
  | { readonly kind: 'stranger' }
  | { readonly kind: 'malformed' }

export function readReply(packet: Buffer, { id, question }: Expected, overTcp: boolean): Reply {
  if (packet.length < HEADER_BYTES || wordAt(packet, 0) !== id) return { kind: 'stranger' }
  const isAnswer = (byteAt(packet, 2) & 0xf8) === 0x80
  const questionEnd = HEADER_BYTES + question.length
  const asked = packet.subarray(HEADER_BYTES, questionEnd)
  if (!isAnswer) return { kind: 'stranger' }
  // some servers refuse without repeating what they were asked
  if (wordAt(packet, 4) === 0 && (byteAt(packet, 3) & 0x0f) !== RCODE.NOERROR)
    return { kind: 'answer', answer: emptyAnswer(byteAt(packet, 3) & 0x0f), keepS: FAILURE_CACHE_S }
  if (wordAt(packet, 4) !== 1) return { kind: 'stranger' }
  if (!asked.equals(question)) {
    if (!lowered(asked).equals(lowered(question))) return { kind: 'stranger' }
    if (!overTcp) return { kind: 'truncated' }
  }
  if ((byteAt(packet, 2) & 0x02) !== 0) return { kind: overTcp ? 'malformed' : 'truncated' }
  return readSections(packet, questionEnd)
}

/** The notes that the walk over the records makes. */
interface Walk {
  at: number
  /** The least of all records. */
  ttl: number
  /** The seconds of the SOA record that say for how long something does not exist. */
  negativeTtl: number
  readonly ttls: number[]
}

function readSections(packet: Buffer, questionEnd: number): Reply {
  const counts = [wordAt(packet, 6), wordAt(packet, 8), 0] as [number, number, number]
  const walk: Walk = { at: questionEnd, ttl: MAX_CACHE_S, negativeTtl: 0, ttls: [] }
  let extendedRcode = 0
  for (let record = 0; record < counts[0] + counts[1]; record++) {
    if (!readRecord(packet, walk, questionEnd)) return { kind: 'malformed' }
  }
  for (let record = 0; record < wordAt(packet, 10); record++) {
    const nameEnd = endOfRecordName(packet, walk.at)
    // what comes after OPT signs the message, which it does no more
    if (nameEnd !== 0 && wordAt(packet, nameEnd) === TYPE.OPT) {
      extendedRcode = byteAt(packet, nameEnd + 4)
      break
    }
    if (!readRecord(packet, walk, questionEnd)) return { kind: 'malformed' }
    counts[2]++
  }
  const rcode = (extendedRcode << 4) | (byteAt(packet, 3) & 0x0f)
  const answer: Answer = {
    rcode,
    authoritative: false,
    authentic: (byteAt(packet, 3) & 0x20) !== 0,
    counts,
    body: [Buffer.from(packet.subarray(questionEnd, walk.at))],
    bodyBytes: walk.at - questionEnd,
    ttls: walk.ttls,
  }
  return { kind: 'answer', answer, keepS: keepS(rcode, counts[0], walk) }
}

/** Steps over one record; false when it is cut off. */
function readRecord(packet: Buffer, walk: Walk, questionEnd: number): boolean {
  const at = endOfRecordName(packet, walk.at)
  if (at === 0 || at + 10 > packet.length) return false
  const dataEnd = at + 10 + wordAt(packet, at + 8)
  if (dataEnd > packet.length) return false
  const ttl = packet.readUInt32BE(at + 4)
  walk.ttls.push(at + 4 - questionEnd)
  walk.ttl = Math.min(walk.ttl, ttl > 0x7fff_ffff ? 0 : ttl)
  if (wordAt(packet, at) === TYPE.SOA && dataEnd - at >= 14) {
    walk.negativeTtl = Math.min(ttl, packet.readUInt32BE(dataEnd - 4))
  }
  walk.at = dataEnd
  return true
}

function keepS(rcode: number, answers: number, { ttl, negativeTtl }: Walk): number {
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return FAILURE_CACHE_S
  if (answers > 0 && rcode === RCODE.NOERROR) return ttl
  return Math.min(ttl, negativeTtl, MAX_NEGATIVE_CACHE_S)
}

function lowered(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)))
}

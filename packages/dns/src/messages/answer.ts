/**
 * Answers as bytes that fit every client with the same question. The client's own question comes first, so that its letters
 * keep their case. Then the id and flags are set and the TTLs counted down.
 */
import { MAX_UDP_BYTES } from '../limits.ts'
import { parseName } from '../names.ts'
import type { DnsRecord } from '../zone/record-data.ts'
import { byteAt, type Edns, HEADER_BYTES } from './read-query.ts'

export interface Answer {
  readonly rcode: number
  readonly authoritative: boolean
  /** Checked by DNSSEC, as a server said. */
  readonly authentic: boolean
  /** How many records the answer, authority and additional sections have, without OPT. */
  readonly counts: readonly [number, number, number]
  /**
   * The sections in parts, as they follow the question; pointers in them count from the header. All names that match a
   * pattern share the part with its value, of up to 64 KiB, which most clients are not even sent over UDP.
   */
  readonly body: readonly Uint8Array[]
  readonly bodyBytes: number
  /** Where in the sections the TTLs stand; empty where they need not be counted down. */
  readonly ttls: readonly number[]
}

/** The parts that are put around an answer for one client. */
export interface Asked {
  readonly packet: Buffer
  readonly questionEnd: number
  readonly edns: Edns | undefined
}

export interface EncodeOptions {
  /** The longest answer that the client takes; a longer one is cut to its question, with TC set. */
  readonly maxBytes: number
  /** Seconds since the answer was made. */
  readonly ageS: number
  /** This node asks others on behalf of its clients (RA). */
  readonly recursion: boolean
}

const OPT_BYTES = 11
const FLAG = { response: 0x80, authoritative: 0x04, truncated: 0x02, desired: 0x01 } as const
const FLAG_LOW = { available: 0x80, authentic: 0x20, unchecked: 0x10 } as const

export function encodeAnswer(answer: Answer, asked: Asked, options: EncodeOptions): Buffer {
  const { packet, questionEnd, edns } = asked
  const optBytes = edns === undefined ? 0 : OPT_BYTES
  const isCut = questionEnd + answer.bodyBytes + optBytes > options.maxBytes
  const bodyBytes = isCut ? 0 : answer.bodyBytes
  const out = Buffer.allocUnsafe(questionEnd + bodyBytes + optBytes)
  packet.copy(out, 0, 0, questionEnd)
  out[2] =
    FLAG.response |
    (answer.authoritative ? FLAG.authoritative : 0) |
    (isCut ? FLAG.truncated : 0) |
    (byteAt(packet, 2) & (0x78 | FLAG.desired))
  const wantsAuthentic = edns?.dnssecOk === true || (byteAt(packet, 3) & FLAG_LOW.authentic) !== 0
  out[3] =
    (options.recursion ? FLAG_LOW.available : 0) |
    (answer.authentic && wantsAuthentic ? FLAG_LOW.authentic : 0) |
    (byteAt(packet, 3) & FLAG_LOW.unchecked) |
    (answer.rcode & 0x0f)
  writeCounts(out, questionEnd, isCut ? NONE : answer.counts, edns !== undefined)
  if (bodyBytes > 0) {
    let at = questionEnd
    for (const part of answer.body) {
      out.set(part, at)
      at += part.length
    }
    if (options.ageS > 0) countDown(out, questionEnd, answer.ttls, options.ageS)
  }
  if (edns !== undefined) writeOpt(out, questionEnd + bodyBytes, answer.rcode, edns)
  return out
}

const NONE = [0, 0, 0] as const

/** An answer without records. */
export function emptyAnswer(rcode: number): Answer {
  return { rcode, authoritative: false, authentic: false, counts: NONE, body: [], bodyBytes: 0, ttls: [] }
}

export interface AnswerRecords {
  readonly rcode: number
  /** The name as the question has it, in lower case. */
  readonly name: string
  readonly answers: readonly DnsRecord[]
  readonly authority: readonly DnsRecord[]
}

/** An answer of this network's own names. */
export function buildAnswer({ rcode, name, answers, authority }: AnswerRecords): Answer {
  const body = [...answers, ...authority].flatMap((record) => [headOf(record, name), record.data])
  return {
    rcode,
    authoritative: true,
    authentic: false,
    counts: [answers.length, authority.length, 0],
    body,
    bodyBytes: body.reduce((sum, { length }) => sum + length, 0),
    ttls: [],
  }
}

/** The bytes before a record's value; a name that the question ends with points into it. */
function headOf(record: DnsRecord, question: string): Buffer {
  const owner = parseName(record.name) ?? new Uint8Array(1)
  const whole = parseName(question) ?? new Uint8Array(1)
  const isSuffix = owner.length > 1 && Buffer.from(whole).subarray(-owner.length).equals(owner)
  const startsLabel = isSuffix && labelStarts(whole).has(whole.length - owner.length)
  const pointer = Buffer.alloc(2)
  pointer.writeUInt16BE(0xc000 | (HEADER_BYTES + whole.length - owner.length))
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(record.type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(record.ttl, 4)
  fixed.writeUInt16BE(record.data.length, 8)
  return Buffer.concat([startsLabel ? pointer : owner, fixed])
}

function labelStarts(name: Uint8Array): ReadonlySet<number> {
  const starts = new Set<number>()
  for (let at = 0; at < name.length && name[at] !== 0; at += byteAt(name, at) + 1) starts.add(at)
  return starts
}

function writeCounts(out: Buffer, questionEnd: number, counts: Answer['counts'], hasOpt: boolean): void {
  out.writeUInt16BE(questionEnd > HEADER_BYTES ? 1 : 0, 4)
  out.writeUInt16BE(counts[0], 6)
  out.writeUInt16BE(counts[1], 8)
  out.writeUInt16BE(counts[2] + (hasOpt ? 1 : 0), 10)
}

function countDown(out: Buffer, from: number, ttls: readonly number[], ageS: number): void {
  for (const at of ttls) out.writeUInt32BE(Math.max(0, out.readUInt32BE(from + at) - ageS), from + at)
}

/** Root name, type, size, upper bits of the code, version 0, DO as it came, no options. */
function writeOpt(out: Buffer, at: number, rcode: number, { dnssecOk }: Edns): void {
  out[at] = 0
  out.writeUInt16BE(41, at + 1)
  out.writeUInt16BE(MAX_UDP_BYTES, at + 3)
  out[at + 5] = rcode >> 4
  out[at + 6] = 0
  out.writeUInt16BE(dnssecOk ? 0x8000 : 0, at + 7)
  out.writeUInt16BE(0, at + 9)
}

/**
 * The values of records, from their text as in zone files (`10 mail.example.com.`) to the bytes that DNS sends. What
 * cannot be read is undefined: other members wrote it.
 */
import { tryParseIp } from '@mesh/core'
import * as dnsPacket from 'dns-packet'
import { MAX_RECORDS_BYTES } from '../limits.ts'
import { parseName } from '../names.ts'
import { TYPE } from '../record-types.ts'

/** One record, ready to be sent. */
export interface DnsRecord {
  /** The name in lower case with a dot at the end, special characters as in zone files (`\.`, `\032`). */
  readonly name: string
  /** Number of the record type, 1 for A. */
  readonly type: number
  /** The time for which the record may be kept, in seconds. */
  readonly ttl: number
  /** RDATA, names in it uncompressed. */
  readonly data: Uint8Array
  /** The value as in zone files. */
  readonly text: string
}

/**
 * RDATA without its length; names count from the root, with or without a trailing dot.
 *
 * @param type number of the record type, 1 for A
 */
export function encodeRecordData(type: number, text: string): Uint8Array | undefined {
  if (text.length > MAX_RECORDS_BYTES) return undefined
  // no two parts of it may take the same characters: a member wrote the text
  const generic = /^\\#\s+(\d{1,5})(\s[\s0-9a-f]*)?$/i.exec(text)
  if (generic !== null) return genericData(Number(generic[1]), (generic[2] ?? '').replaceAll(/\s/g, ''))
  switch (type) {
    case TYPE.A:
      return text.includes(':') ? undefined : encoded('A', tryParseIp(text))
    case TYPE.AAAA:
      return text.includes(':') ? encoded('AAAA', tryParseIp(text)) : undefined
    case TYPE.CNAME:
    case TYPE.DNAME:
    case TYPE.NS:
    case TYPE.PTR:
      return parseName(text.trim())
    case TYPE.MX:
      return numbersAndName(text, 1)
    case TYPE.SRV:
      return numbersAndName(text, 3)
    case TYPE.TXT:
      return encoded('TXT', characterStrings(text))
    default:
      return undefined
  }
}

/** RDATA of a zone's SOA. */
export function encodeSoa(zone: string, serial: number, minimumS: number): Uint8Array {
  const [refresh, retry, expire] = [60, 30, 3_600]
  const soa = Buffer.alloc(20)
  for (const [at, value] of [serial >>> 0, refresh, retry, expire, minimumS].entries()) {
    soa.writeUInt32BE(value, at * 4)
  }
  const names = [`ns.${zone}`, `hostmaster.${zone}`].map((name) => parseName(name) ?? new Uint8Array(1))
  return Buffer.concat([...names, soa])
}

/** Header, root name, type, class, TTL and length stand before the data of a packet's first answer. */
const DATA_AT = 12 + 1 + 10

function encoded(type: 'A' | 'AAAA' | 'TXT', data: string | readonly Buffer[] | undefined) {
  if (data === undefined) return undefined
  const answer = { type, name: '.', data } as dnsPacket.Answer
  return dnsPacket.encode({ type: 'response', answers: [answer] }).subarray(DATA_AT)
}

/** RFC 3597: bytes of any type, in hexadecimal. */
function genericData(length: number, digits: string): Uint8Array | undefined {
  return digits.length === length * 2 ? Buffer.from(digits, 'hex') : undefined
}

/** `numbers` numbers of 16 bits, then a host name. */
function numbersAndName(text: string, numbers: number): Uint8Array | undefined {
  const fields = text.trim().split(/\s+/)
  const name = parseName(fields.at(-1) ?? '')
  const values = fields.slice(0, -1)
  const isRight = values.length === numbers && values.every((each) => /^\d{1,5}$/.test(each))
  if (name === undefined || !isRight || values.some((each) => Number(each) > 0xffff)) return undefined
  const head = Buffer.alloc(2 * numbers)
  for (const [at, value] of values.entries()) head.writeUInt16BE(Number(value), at * 2)
  return Buffer.concat([head, name])
}

const MAX_STRING_BYTES = 255

/** `"one string" another "with \"quotes\" and \065"`; longer ones than 255 bytes are cut into several. */
function characterStrings(text: string): readonly Buffer[] | undefined {
  const strings: Buffer[] = []
  const tokens = /\s*(?:"((?:[^"\\]|\\.)*)"|((?:[^\s"\\]|\\.)+))\s*/gsy
  for (let at = 0; at < text.length; at = tokens.lastIndex) {
    tokens.lastIndex = at
    const token = tokens.exec(text)
    if (token === null) return undefined
    const bytes = unescaped(token[1] ?? token[2] ?? '')
    if (bytes === undefined) return undefined
    for (let from = 0; from === 0 || from < bytes.length; from += MAX_STRING_BYTES) {
      strings.push(bytes.subarray(from, from + MAX_STRING_BYTES))
    }
  }
  return strings.length === 0 ? [Buffer.alloc(0)] : strings
}

function unescaped(text: string): Buffer | undefined {
  if (!text.includes('\\')) return Buffer.from(text)
  let isBad = false
  const parts = [...text.matchAll(/\\(\d{3})|\\(.)|([^\\]+)/gs)].map(([, decimal, escaped, plain]) => {
    if (decimal === undefined) return Buffer.from(escaped ?? plain ?? '')
    isBad ||= Number(decimal) > 0xff
    return Buffer.from([Number(decimal)])
  })
  return isBad ? undefined : Buffer.concat(parts)
}

/**
 * The messages of `/mesh/service/1` and `/mesh/egress/1`: one request, one answer, then the bytes themselves.
 *
 * ```proto
 * message ServiceRequest { string name = 1; Kind kind = 2; bytes entries = 3; }
 * message EgressRequest { string host = 1; uint32 port = 2; bytes entries = 3; }
 * message Answer { Code code = 1; string reason = 2; }
 * ```
 */
import { reader, writer } from 'protons-runtime'
import { MAX_REASON_LENGTH } from '../limits.ts'
import type { ServiceKind } from '../streams/endpoint.ts'

export interface ServiceRequest {
  readonly name: string
  readonly kind: ServiceKind
  /** A block with the client's own entries of `users` and `healthcheck`; empty: the server should know them. */
  readonly entries: Uint8Array
}

export interface EgressRequest {
  /** A name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
  readonly entries: Uint8Array
}

/** The codes of answers, in the order of their numbers on the wire; `ok` is 0. */
export const ANSWER_CODES = [
  'ok',
  /** The client has no live entry in `users`. */
  'not_user',
  'unknown_service',
  /** Datagrams were asked of a service of streams, or the other way round. */
  'wrong_kind',
  /** The target or destination cannot be reached. */
  'target_down',
  /** The destination is none that this egress serves. */
  'forbidden',
  /** More connections than the server takes. */
  'busy',
  'bad_request',
] as const
export type AnswerCode = (typeof ANSWER_CODES)[number]

export interface Answer {
  /** `unknown`: of a later version. */
  readonly code: AnswerCode | 'unknown'
  /** The reason in words, for people. */
  readonly reason: string
}

const text = (field: number) => (field << 3) | 2
const number = (field: number) => field << 3
const NO_BYTES = new Uint8Array()

export function encodeServiceRequest({ name, kind, entries }: ServiceRequest): Uint8Array {
  const message = writer().uint32(text(1)).string(name)
  if (kind === 'datagram') message.uint32(number(2)).uint32(1)
  return message.uint32(text(3)).bytes(entries).finish()
}

/** Undefined for what is no such message. */
export function decodeServiceRequest(bytes: Uint8Array): ServiceRequest | undefined {
  const request = { name: '', kind: 0, entries: NO_BYTES }
  const isRead = readFields(bytes, (tag, input) => {
    if (tag === text(1)) request.name = input.string()
    else if (tag === number(2)) request.kind = input.uint32()
    else if (tag === text(3)) request.entries = new Uint8Array(input.bytes())
    else return false
    return true
  })
  if (!isRead || request.kind > 1 || request.name === '') return undefined
  return { ...request, kind: request.kind === 1 ? 'datagram' : 'stream' }
}

export function encodeEgressRequest({ host, port, entries }: EgressRequest): Uint8Array {
  return writer()
    .uint32(text(1))
    .string(host)
    .uint32(number(2))
    .uint32(port)
    .uint32(text(3))
    .bytes(entries)
    .finish()
}

/** Undefined for what is no such message. */
export function decodeEgressRequest(bytes: Uint8Array): EgressRequest | undefined {
  const request = { host: '', port: 0, entries: NO_BYTES }
  const isRead = readFields(bytes, (tag, input) => {
    if (tag === text(1)) request.host = input.string()
    else if (tag === number(2)) request.port = input.uint32()
    else if (tag === text(3)) request.entries = new Uint8Array(input.bytes())
    else return false
    return true
  })
  const isRight = isRead && request.host !== '' && request.port > 0 && request.port < 65_536
  return isRight ? request : undefined
}

/** Too long a reason is cut. */
export function encodeAnswer(code: AnswerCode, reason = ''): Uint8Array {
  const message = writer().uint32(number(1)).uint32(ANSWER_CODES.indexOf(code))
  return message.uint32(text(2)).string(reason.slice(0, MAX_REASON_LENGTH).toWellFormed()).finish()
}

/** Undefined for what is no such message. */
export function decodeAnswer(bytes: Uint8Array): Answer | undefined {
  const answer = { code: 0, reason: '' }
  const isRead = readFields(bytes, (tag, input) => {
    if (tag === number(1)) answer.code = input.uint32()
    else if (tag === text(2)) answer.reason = input.string().slice(0, MAX_REASON_LENGTH)
    else return false
    return true
  })
  return isRead ? { ...answer, code: ANSWER_CODES[answer.code] ?? 'unknown' } : undefined
}

/** `read` says whether it knew the field; others are skipped. False: no protobuf. */
function readFields(
  bytes: Uint8Array,
  read: (tag: number, input: ReturnType<typeof reader>) => boolean,
): boolean {
  try {
    const input = reader(bytes)
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (!read(tag, input)) input.skipType(tag & 7)
    }
    return true
  } catch {
    return false
  }
}

/**
 * Answers packets from UDP and TCP.
 *
 * 1. Reads the question.
 * 2. Takes the answer that was prepared since the names last changed.
 * 3. Otherwise finds out who answers, and prepares that.
 * 4. Forwards what nobody here answers.
 *
 * The caller must not write to the packet afterwards: a later answer is built from it.
 */
import type { LoopBudget } from '@mesh/core/limits'
import * as dnsPacket from 'dns-packet'
import { LRUCache } from 'lru-cache'
import type { Forwarded, Forwarder } from '../forwarder/forwarder.ts'
import type { KnownNames, Names } from '../known-names.ts'
import {
  MAX_FOLLOWED_RECORDS,
  MAX_PREPARED_ANSWERS,
  MAX_PREPARED_BYTES,
  MAX_TCP_BYTES,
  MAX_WAITING_QUESTIONS,
  MIN_UDP_BYTES,
  RECORD_TTL_S,
} from '../limits.ts'
import { type Answer, buildAnswer, emptyAnswer, encodeAnswer } from '../messages/answer.ts'
import { type BadQuery, HEADER_BYTES, isQuery, type Query, readQuery } from '../messages/read-query.ts'
import { nameText, parseName } from '../names.ts'
import { CLASS_IN, RCODE, TYPE } from '../record-types.ts'
import { type Question, type Resolution, resolve } from '../resolver.ts'
import type { DnsRecord } from '../zone/record-data.ts'
import { type Client, laneOf } from './clients.ts'

/** The fates of a packet; metrics use these words. */
export const OUTCOMES = [
  'answered',
  'nonexistent',
  'forwarded',
  'cached',
  'failed',
  'refused',
  'malformed',
  'unsupported',
  'ignored',
  'limited',
  'overloaded',
] as const
export type Outcome = (typeof OUTCOMES)[number]

interface Request {
  readonly packet: Buffer
  readonly client: Client
  /** The most that fits: 65,535 over TCP; over UDP what the client says, 512 unless it says more. */
  readonly overTcp: boolean
  /** Called at most once; not for what must not be answered. */
  readonly reply: (answer: Buffer) => void
}

export interface ResponderComponents {
  readonly names: KnownNames
  /** Undefined: nothing is passed on. */
  readonly forwarder: Forwarder | undefined
  readonly budget: LoopBudget
  readonly count: (outcome: Outcome) => void
}

type Prepared =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly outcome: Outcome }
  | { readonly kind: 'forward'; readonly domain: string }
  /** A CNAME of ours whose target somebody else has: both records go in one answer, as clients expect. */
  | {
      readonly kind: 'follow'
      readonly name: string
      readonly records: readonly DnsRecord[]
      readonly target: Question
    }

export class Responder {
  readonly #components: ResponderComponents
  readonly #prepared = new LRUCache<string, Prepared>({
    max: MAX_PREPARED_ANSWERS,
    maxSize: MAX_PREPARED_BYTES,
    sizeCalculation: sizeOf,
  })
  /** The number of questions that wait for the names or for time. */
  #waiting = 0
  #names: Names | undefined

  constructor(components: ResponderComponents) {
    this.#components = components
  }

  respond(request: Request): void {
    const query = readQuery(request.packet)
    if (query === undefined) return this.#components.count('ignored')
    if (!isQuery(query)) return this.#refuse(request, query)
    if (this.#answer(request, query)) return
    if (this.#waiting >= MAX_WAITING_QUESTIONS) return this.#send(request, query, FAILED, 'overloaded')
    this.#waiting++
    this.#answerLater(request, query)
  }

  #answerLater(request: Request, query: Query): void {
    const answer = () => {
      if (this.#answer(request, query)) this.#waiting--
      else this.#answerLater(request, query)
    }
    this.#components.budget.later(laneOf(request.client), answer, request.client.rated)
  }

  /** False: the names are not built yet, or the patterns not all tried. */
  #answer(request: Request, query: Query): boolean {
    const names = this.#components.names.current()
    if (names === undefined) return false
    if (names !== this.#names) {
      this.#names = names
      this.#prepared.clear()
    }
    const prepared = this.#prepared.get(query.key) ?? this.#prepare(query, names)
    if (prepared === undefined) return false
    if (prepared.kind === 'answer') this.#send(request, query, prepared, prepared.outcome)
    else if (prepared.kind === 'forward') this.#forward(request, query, prepared.domain)
    else this.#follow(request, query, prepared)
    return true
  }

  /** Undefined: the patterns are not all tried yet. */
  #prepare(query: Query, names: Names): Prepared | undefined {
    const question = { name: nameText(query.packet, HEADER_BYTES), type: query.type }
    const forwards = (name: string) => this.#components.forwarder?.domainOf(name)
    const resolution = resolve(question, { zone: names.zone, match: names.match, forwards })
    if (resolution.kind === 'pending') return undefined
    const prepared = preparedOf(question, resolution)
    this.#prepared.set(query.key, prepared)
    return prepared
  }

  #forward(request: Request, query: Query, domain: string): void {
    this.#ask(request, query, { key: query.key, domain }, (forwarded, isCached) =>
      this.#send(request, query, forwarded, isCached ? 'cached' : outcomeOf(forwarded)),
    )
  }

  #follow(request: Request, query: Query, prepared: Extract<Prepared, { kind: 'follow' }>): void {
    const { name, records, target } = prepared
    const key = keyOf(target)
    const domain = this.#components.forwarder?.domainOf(target.name) ?? '.'
    this.#ask(request, query, { key, domain }, (forwarded) => {
      const more = recordsOf(key, forwarded)
      const rcode = more === undefined ? RCODE.SERVFAIL : forwarded.answer.rcode
      const answers = more === undefined ? [] : [...records, ...more]
      const answer = { ...buildAnswer({ rcode, name, answers, authority: [] }), authoritative: false }
      this.#send(request, query, { answer }, outcomeOf({ answer, ageS: 0 }))
    })
  }

  #ask(
    request: Request,
    query: Query,
    { key, domain }: { readonly key: string; readonly domain: string },
    done: (forwarded: Forwarded, isCached: boolean) => void,
  ): void {
    const { forwarder } = this.#components
    if (forwarder === undefined || request.client.place === 'far') {
      return this.#send(request, query, REFUSED, 'refused')
    }
    const checkingDisabled = ((query.packet[3] ?? 0) & 0x10) !== 0
    const question = { key, domain, dnssecOk: query.edns?.dnssecOk === true, checkingDisabled }
    const cached = forwarder.cached(question)
    if (cached !== undefined) return done(cached, true)
    const isTaken = forwarder.ask(question, request.client.rated, (forwarded) => done(forwarded, false))
    if (!isTaken) this.#send(request, query, FAILED, 'overloaded')
  }

  #refuse(request: Request, { rcode, questionEnd, edns }: BadQuery): void {
    const asked = { packet: request.packet, questionEnd, edns }
    const outcome =
      rcode === RCODE.FORMERR ? 'malformed' : rcode === RCODE.REFUSED ? 'refused' : 'unsupported'
    this.#components.count(outcome)
    request.reply(
      encodeAnswer(emptyAnswer(rcode), asked, { maxBytes: MAX_TCP_BYTES, ageS: 0, recursion: false }),
    )
  }

  #send({ overTcp, reply }: Request, query: Query, given: Given, outcome: Outcome): void {
    const { count, forwarder } = this.#components
    count(outcome)
    const maxBytes = overTcp ? MAX_TCP_BYTES : (query.edns?.maxBytes ?? MIN_UDP_BYTES)
    reply(
      encodeAnswer(given.answer, query, {
        maxBytes,
        ageS: given.ageS ?? 0,
        recursion: forwarder !== undefined,
      }),
    )
  }
}

type Given = { readonly answer: Answer; readonly ageS?: number }
const REFUSED: Given = { answer: emptyAnswer(RCODE.REFUSED) }
const FAILED: Given = { answer: emptyAnswer(RCODE.SERVFAIL) }

function preparedOf(question: Question, resolution: Exclude<Resolution, { kind: 'pending' }>): Prepared {
  const { name } = question
  // all types of a name are a long answer to a short question: RFC 8482 has one record instead
  const isAny = question.type === TYPE.ANY
  if (resolution.kind === 'refused') return { kind: 'answer', ...REFUSED, outcome: 'refused' }
  if (resolution.kind === 'forward') {
    if (!isAny) return resolution
    return { kind: 'answer', answer: { ...minimal(name), authoritative: false }, outcome: 'answered' }
  }
  const { rcode, answers, authority, follow } = resolution
  if (isAny && rcode === RCODE.NOERROR) return { kind: 'answer', answer: minimal(name), outcome: 'answered' }
  if (follow !== undefined) return { kind: 'follow', name, records: answers, target: follow }
  const outcome = rcode === RCODE.NXDOMAIN ? 'nonexistent' : rcode === RCODE.NOERROR ? 'answered' : 'failed'
  return { kind: 'answer', answer: buildAnswer({ rcode, name, answers, authority }), outcome }
}

/** About how many bytes of memory it takes. */
function sizeOf(prepared: Prepared): number {
  switch (prepared.kind) {
    case 'answer':
      return PREPARED_BYTES + prepared.answer.bodyBytes
    case 'follow':
      return prepared.records.reduce((sum, { data }) => sum + data.length, PREPARED_BYTES)
    case 'forward':
      return PREPARED_BYTES
  }
}

/** About how many bytes an answer takes beside its records. */
const PREPARED_BYTES = 512

function minimal(name: string): Answer {
  const data = Buffer.from('\u0007RFC8482\u0000', 'latin1')
  const record: DnsRecord = { name, type: TYPE.HINFO, ttl: RECORD_TTL_S, data, text: '"RFC8482" ""' }
  return buildAnswer({ rcode: RCODE.NOERROR, name, answers: [record], authority: [] })
}

function outcomeOf({ answer: { rcode } }: Forwarded): Outcome {
  return rcode === RCODE.SERVFAIL ? 'failed' : 'forwarded'
}

function keyOf({ name, type }: Question): string {
  const bytes = Buffer.concat([parseName(name) ?? new Uint8Array(1), Buffer.from([0, 0, 0, 0])])
  bytes.writeUInt16BE(type, bytes.length - 4)
  bytes.writeUInt16BE(CLASS_IN, bytes.length - 2)
  return bytes.toString('latin1')
}

/** The records of a forwarded answer, with names that point nowhere; undefined when it failed or cannot be read. */
function recordsOf(key: string, { answer, ageS }: Forwarded): readonly DnsRecord[] | undefined {
  if (answer.rcode !== RCODE.NOERROR && answer.rcode !== RCODE.NXDOMAIN) return undefined
  if (answer.counts[0] > MAX_FOLLOWED_RECORDS) return undefined
  const header = Buffer.from([0, 0, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  header.writeUInt16BE(answer.counts[0], 6)
  try {
    const whole = Buffer.concat([header, Buffer.from(key, 'latin1'), ...answer.body])
    return (dnsPacket.decode(whole).answers ?? []).map((record) => plainRecord(record, ageS))
  } catch {
    return undefined
  }
}

function plainRecord(record: dnsPacket.Answer, ageS: number): DnsRecord {
  const alone = dnsPacket.encode({
    type: 'response',
    answers: [{ ...record, name: '.' } as dnsPacket.Answer],
  })
  const ttl = Math.max(0, ('ttl' in record ? (record.ttl ?? 0) : 0) - ageS)
  return { name: record.name, type: alone.readUInt16BE(13), ttl, data: alone.subarray(23), text: '' }
}

/**
 * Forwards questions to other servers.
 *
 * 1. Answers from the cache.
 * 2. Joins a question that is under way. This also ends loops between two nodes that forward to each other.
 * 3. Tries the servers one after the other, over UDP, and over TCP if the answer was truncated.
 * 4. Keeps the answer, or the failure, for its time.
 */
import { type Clock, KeyedCounts, type Logger, type Random } from '@mesh/core'
import { LRUCache } from 'lru-cache'
import {
  DEFAULT_CACHE_ENTRIES,
  FAILURE_CACHE_S,
  FORWARD_MS,
  MAX_CACHED_BYTES,
  MAX_FORWARD_TRIES,
  MAX_FORWARD_WAITERS,
  MAX_FORWARDS,
  MAX_FORWARDS_PER_CLIENT,
  MAX_UDP_BYTES,
  TCP_TRY_MS,
  UDP_TRY_MS,
} from '../limits.ts'
import { type Answer, emptyAnswer } from '../messages/answer.ts'
import { readReply, type Reply } from '../messages/read-reply.ts'
import { RCODE } from '../record-types.ts'
import { exchangeOverTcp, exchangeOverUdp, type Exchange, whereOf } from './exchange.ts'
import { createServers, type ForwardServer, type ServerStatus } from './servers.ts'

export interface ForwarderInit {
  readonly servers: readonly ForwardServer[]
  /** Answers that are kept; 0 keeps none. */
  readonly cacheEntries?: number
}

export interface ForwarderComponents {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly overUdp?: Exchange
  readonly overTcp?: Exchange
}

export interface ForwardQuestion {
  /** The key of the question, as in `Query`. */
  readonly key: string
  readonly domain: string
  readonly dnssecOk: boolean
  readonly checkingDisabled: boolean
}

export interface Forwarded {
  readonly answer: Answer
  /** The time since the answer was made, in s. */
  readonly ageS: number
}

export interface ForwarderStatus {
  readonly servers: readonly ServerStatus[]
  /** Number of answers that are kept. */
  readonly cached: number
  /** Number of questions that a kept answer served. */
  readonly hits: number
  /** Number of questions that a server was asked for. */
  readonly misses: number
  /** Number of questions that wait for a server now. */
  readonly inFlight: number
}

type Answered = Extract<Reply, { kind: 'answer' }>

interface Flight {
  readonly waiters: ((forwarded: Forwarded) => void)[]
}

interface Kept {
  readonly answer: Answer
  readonly storedAt: number
  readonly expiresAt: number
}

export class Forwarder {
  readonly #components: ForwarderComponents
  readonly #servers
  readonly #cache: LRUCache<string, Kept> | undefined
  readonly #flights = new Map<string, Flight>()
  readonly #byClient = new KeyedCounts<string>()
  #waiters = 0
  #hits = 0
  #misses = 0
  #stopped = false

  constructor(
    { servers, cacheEntries = DEFAULT_CACHE_ENTRIES }: ForwarderInit,
    components: ForwarderComponents,
  ) {
    this.#components = components
    this.#servers = createServers(servers, components.clock)
    this.#cache = cacheEntries === 0 ? undefined : new LRUCache({ max: cacheEntries })
  }

  domainOf(name: string): string | undefined {
    return this.#servers.domainOf(name)
  }

  /** Gives an answer from the cache alone. */
  cached(question: ForwardQuestion): Forwarded | undefined {
    const key = cacheKey(question)
    const kept = this.#cache?.get(key)
    if (kept === undefined) return undefined
    const now = this.#components.clock.monotonic()
    if (now >= kept.expiresAt) {
      this.#cache?.delete(key)
      return undefined
    }
    this.#hits++
    return { answer: kept.answer, ageS: Math.floor((now - kept.storedAt) / 1_000) }
  }

  /**
   * Calls back once; a failure is an answer with SERVFAIL. Answers false, and does not call back, when too much is
   * under way, in all or for this client.
   * @param client whom the bound counts for; undefined: not bounded by client
   */
  ask(question: ForwardQuestion, client: string | undefined, done: (forwarded: Forwarded) => void): boolean {
    const key = cacheKey(question)
    const ofClient = client === undefined ? 0 : this.#byClient.of(client)
    if (this.#waiters >= MAX_FORWARD_WAITERS || ofClient >= MAX_FORWARDS_PER_CLIENT) return false
    let flight = this.#flights.get(key)
    if (flight === undefined && this.#flights.size >= MAX_FORWARDS) return false
    this.#misses++
    this.#waiters++
    if (client !== undefined) this.#byClient.add(client)
    const waiter = (forwarded: Forwarded) => {
      this.#waiters--
      this.#leave(client)
      done(forwarded)
    }
    if (flight === undefined) {
      flight = { waiters: [waiter] }
      this.#flights.set(key, flight)
      void this.#fly(key, question, flight)
    } else flight.waiters.push(waiter)
    return true
  }

  status(): ForwarderStatus {
    return {
      servers: this.#servers.status(),
      cached: this.#cache?.size ?? 0,
      hits: this.#hits,
      misses: this.#misses,
      inFlight: this.#flights.size,
    }
  }

  /** Nobody is called back any more. */
  stop(): void {
    this.#stopped = true
    this.#flights.clear()
  }

  #leave(client: string | undefined): void {
    if (client !== undefined) this.#byClient.remove(client)
  }

  async #fly(key: string, question: ForwardQuestion, flight: Flight): Promise<void> {
    const { clock, log } = this.#components
    let reply: Answered | undefined
    try {
      reply = await this.#tryServers(question)
    } catch (error) {
      log.error('forwarding failed', { error })
    }
    if (this.#stopped) return
    const { answer, keepS } = reply ?? { answer: emptyAnswer(RCODE.SERVFAIL), keepS: FAILURE_CACHE_S }
    const storedAt = clock.monotonic()
    if (keepS > 0 && answer.bodyBytes <= MAX_CACHED_BYTES) {
      this.#cache?.set(key, { answer, storedAt, expiresAt: storedAt + keepS * 1_000 })
    }
    this.#flights.delete(key)
    for (const waiter of flight.waiters) waiter({ answer, ageS: 0 })
  }

  async #tryServers(question: ForwardQuestion): Promise<Answered | undefined> {
    const { clock, log } = this.#components
    const end = clock.monotonic() + FORWARD_MS
    const servers = this.#servers.inOrder(question.domain)
    let refusal: Answered | undefined
    for (const server of [...servers, ...servers].slice(0, MAX_FORWARD_TRIES)) {
      const leftMs = end - clock.monotonic()
      if (leftMs <= 0 || this.#stopped) break
      try {
        const reply = await this.#askServer(server, question, leftMs)
        this.#servers.succeeded(server)
        if (reply.answer.rcode === RCODE.NOERROR || reply.answer.rcode === RCODE.NXDOMAIN) return reply
        refusal ??= reply
        if (servers.length === 1) break
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        this.#servers.failed(server, reason)
        log.debug('forwarder failed', { server: whereOf(server), reason })
      }
    }
    return refusal
  }

  /** Asks with EDNS, and without it where the server says that it knows none. */
  async #askServer(server: ForwardServer, question: ForwardQuestion, leftMs: number): Promise<Answered> {
    const { random, clock } = this.#components
    const end = clock.monotonic() + leftMs
    const reply = await this.#askOnce(server, buildQuery(question, random), leftMs)
    if (!WITHOUT_EDNS.has(reply.answer.rcode)) return reply
    const plain = buildQuery(question, random, { hasEdns: false })
    return await this.#askOnce(server, plain, end - clock.monotonic())
  }

  async #askOnce(server: ForwardServer, sent: BuiltQuery, leftMs: number): Promise<Answered> {
    const { clock, overUdp = exchangeOverUdp, overTcp = exchangeOverTcp } = this.#components
    for (const [exchange, isTcp, tryMs] of [
      [overUdp, false, UDP_TRY_MS],
      [overTcp, true, TCP_TRY_MS],
    ] as const) {
      let reply: Reply = { kind: 'malformed' }
      const accept = (packet: Buffer) => {
        reply = readReply(packet, sent, isTcp)
        return reply.kind !== 'stranger'
      }
      const withinMs = Math.min(tryMs, leftMs)
      await exchange({ server, packet: sent.packet, withinMs, accept }, clock)
      const heard = reply as Reply
      if (heard.kind === 'answer') return heard
      if (heard.kind !== 'truncated') throw new Error('its answer cannot be read')
    }
    throw new Error('its answer over TCP cannot be read')
  }
}

/** The codes that servers which know no EDNS answer a question with it by (RFC 6891, 7). */
const WITHOUT_EDNS: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.NOTIMP])

function cacheKey({ key, dnssecOk, checkingDisabled }: ForwardQuestion): string {
  return (dnssecOk ? 'd' : '-') + (checkingDisabled ? 'c' : '-') + key
}

interface BuiltQuery {
  readonly id: number
  readonly question: Buffer
  readonly packet: Buffer
}

/** Random id, random case of the letters: an answer that has both comes from who was asked. */
function buildQuery(
  { key, dnssecOk, checkingDisabled }: ForwardQuestion,
  random: Random,
  { hasEdns = true }: { readonly hasEdns?: boolean } = {},
): BuiltQuery {
  const question = Buffer.from(key, 'latin1')
  const drawn = random.bytes(2 + question.length)
  for (let at = 0; at < question.length - 4; at++) {
    const byte = question[at] ?? 0
    if (byte >= 0x61 && byte <= 0x7a && ((drawn[at + 2] ?? 0) & 1) === 1) question[at] = byte - 0x20
  }
  const id = ((drawn[0] ?? 0) << 8) | (drawn[1] ?? 0)
  const header = Buffer.from([id >> 8, id & 0xff, 1, checkingDisabled ? 0x10 : 0, 0, 1, 0, 0, 0, 0, 0, 0])
  if (!hasEdns) return { id, question, packet: Buffer.concat([header, question]) }
  header.writeUInt16BE(1, 10)
  const opt = Buffer.from([
    0,
    0,
    41,
    MAX_UDP_BYTES >> 8,
    MAX_UDP_BYTES & 0xff,
    0,
    0,
    dnssecOk ? 0x80 : 0,
    0,
    0,
    0,
  ])
  return { id, question, packet: Buffer.concat([header, question, opt]) }
}

/**
 * Finds members on the same link: asks, answers, and reads what others answer. Everybody hears every answer, so a
 * question that somebody else asked need not be asked again: a link of twenty idle nodes carries about one a minute.
 */
import { type Clock, createTokenBucket, type Logger, type Random, type TokenBucket } from '@mesh/core'
import { MAX_MDNS_PACKETS_PER_SECOND, MDNS_QUERY_MAX_MS, MDNS_QUERY_MIN_MS } from '../limits.ts'
import type { Find } from './find.ts'
import { buildAnswer, buildQuery, readPacket } from './mdns-records.ts'

/** One network interface and address family on which multicast goes out. */
export interface MulticastLink {
  readonly id: string
  readonly family: 4 | 6
  /** This machine's address on the interface. */
  readonly address: string
}

/** The sockets that mDNS needs. */
export interface Multicast {
  links(): readonly MulticastLink[]
  send(link: MulticastLink, packet: Uint8Array): void
  /** Calls the listener with packets that came from any link, our own among them. */
  onPacket(listener: (packet: Uint8Array) => void): void
  /** Looks for interfaces that came or went. */
  refresh(): Promise<void>
  close(): Promise<void>
}

interface MdnsInit {
  readonly self: string
  /** The service name, from the network's configuration. */
  readonly service: string
  /** Gives the addresses to tell on a link, each with `/p2p/`. */
  readonly addresses: (link: MulticastLink) => readonly string[]
  readonly found: (find: Find) => void
}

/** The least time between two answers on a link, in ms; RFC 6762, section 6, says one second. */
const ANSWER_GAP_MS = 1_000
/**
 * How much longer that is for each answer of others since this node's last, in ms: where many machines start together
 * each hears twenty a second and not all of them at each question. Who comes is found meanwhile by what it announces itself.
 */
const GAP_FOR_ANSWER_MS = 50
/** The longest time between two answers while questions come, in ms. */
const MAX_ANSWER_GAP_MS = 10_000
/** The time over which answers are spread, in ms, as all nodes hear the question at once. */
const ANSWER_SPREAD_MS = 20
/** When a new node announces itself a second time, in ms, for those who lost the first announcement. */
const ANNOUNCE_AGAIN_MS = 1_000

interface Mdns {
  stop(): Promise<void>
}

interface MdnsComponents {
  readonly multicast: Multicast
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Begins to ask, to answer and to announce this node. */
export function startMdns(init: MdnsInit, components: MdnsComponents): Mdns {
  const mdns = new MdnsService(init, components)
  mdns.start()
  return mdns
}

class MdnsService implements Mdns {
  readonly #init: MdnsInit
  readonly #components: MdnsComponents
  readonly #log: Logger
  /** The random label that stands for this node as long as it runs. */
  readonly #instance: string
  /** When this node answered last on each link, in unix ms. */
  readonly #lastAnswerMs = new Map<string, number>()
  readonly #answering = new Set<string>()
  /** How many answers of others came since this node's last. */
  #heardAnswers = 0
  readonly #timers = new Set<() => void>()
  /** Packets that are still read; what a flood brings beyond them is dropped unread. */
  readonly #packets: TokenBucket
  #intervalMs = MDNS_QUERY_MIN_MS
  #cancelQuery: (() => void) | undefined
  #isStopped = false

  constructor(init: MdnsInit, components: MdnsComponents) {
    this.#init = init
    this.#components = components
    this.#log = components.logger.child('mdns')
    const rate = { perSecond: MAX_MDNS_PACKETS_PER_SECOND, burst: MAX_MDNS_PACKETS_PER_SECOND }
    this.#packets = createTokenBucket(rate, components.clock)
    this.#instance = Array.from(components.random.bytes(40), (byte) => (byte % 36).toString(36)).join('')
  }

  start(): void {
    this.#components.multicast.onPacket((bytes) => this.#onPacket(bytes))
    void this.#ask()
    this.#answerSoon()
    this.#later(ANNOUNCE_AGAIN_MS, () => this.#answerSoon())
  }

  readonly stop = async (): Promise<void> => {
    if (this.#isStopped) return
    const { multicast } = this.#components
    for (const link of multicast.links()) this.#answer(link, 0)
    this.#isStopped = true
    this.#cancelQuery?.()
    for (const cancel of this.#timers) cancel()
    await multicast.close()
  }

  #onPacket(bytes: Uint8Array): void {
    if (this.#isStopped || !this.#packets.take()) return
    const packet = readPacket(bytes, this.#init.service)
    if (packet === undefined) return
    if (packet.kind === 'query') {
      this.#answerSoon()
      // once the backoff has ended, somebody's question serves all; jitter decides who asks next
      const isSlow = this.#intervalMs >= MDNS_QUERY_MAX_MS
      if (isSlow) this.#scheduleQuery(this.#intervalMs * (1 + this.#components.random.float() / 2))
      return
    }
    const finds = packet.finds.filter(({ peer }) => peer !== this.#init.self)
    if (finds.length > 0) this.#heardAnswers++
    for (const find of finds) this.#init.found(find)
  }

  // asking

  #scheduleQuery(delayMs: number): void {
    this.#cancelQuery?.()
    this.#cancelQuery = this.#components.clock.after(delayMs, () => void this.#ask())
  }

  async #ask(): Promise<void> {
    const { multicast, random } = this.#components
    await multicast
      .refresh()
      .catch((error: unknown) => this.#log.debug('interfaces not read', { reason: String(error) }))
    if (this.#isStopped) return
    const query = buildQuery(this.#init.service)
    for (const link of multicast.links()) multicast.send(link, query)
    this.#intervalMs = Math.min(MDNS_QUERY_MAX_MS, this.#intervalMs * (1.5 + random.float()))
    this.#scheduleQuery(this.#intervalMs)
  }

  // answering

  /** Answers on each link soon, or when its gap is over; one answer serves all who asked until then. */
  #answerSoon(): void {
    const { multicast, random } = this.#components
    for (const link of multicast.links()) {
      if (this.#answering.has(link.id)) continue
      this.#answering.add(link.id)
      this.#answerIn(Math.max(random.float() * ANSWER_SPREAD_MS, this.#gapLeftMs(link)), link)
    }
  }

  /** Answers then, or later where others answered meanwhile. */
  #answerIn(waitMs: number, link: MulticastLink): void {
    this.#later(waitMs, () => {
      const leftMs = this.#gapLeftMs(link)
      if (leftMs > 0) return this.#answerIn(leftMs, link)
      this.#answering.delete(link.id)
      this.#answer(link)
    })
  }

  #gapLeftMs({ id }: MulticastLink): number {
    const gapMs = Math.min(MAX_ANSWER_GAP_MS, ANSWER_GAP_MS + this.#heardAnswers * GAP_FOR_ANSWER_MS)
    const lastMs = this.#lastAnswerMs.get(id) ?? Number.NEGATIVE_INFINITY
    return lastMs + gapMs - this.#components.clock.monotonic()
  }

  #answer(link: MulticastLink, ttl?: number): void {
    const { service, addresses: addressesOn } = this.#init
    this.#lastAnswerMs.set(link.id, this.#components.clock.monotonic())
    this.#heardAnswers = 0
    const addresses = addressesOn(link)
    if (addresses.length === 0) return
    const more = ttl === undefined ? {} : { ttl }
    const answer = buildAnswer({ service, instance: this.#instance, addresses, host: link, ...more })
    this.#components.multicast.send(link, answer)
  }

  #later(delayMs: number, run: () => void): void {
    const cancel = this.#components.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }
}

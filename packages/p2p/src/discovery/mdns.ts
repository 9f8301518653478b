/**
 * Finds members on the same link by mDNS. Everybody hears every answer, so a question of another node serves this one too. A link of
 * twenty idle nodes carries about one question a minute. While many start, it carries one every few seconds.
 */
import { addressGroup, type Clock, type Logger, type Random } from '@mesh/core'
import { createRate, type LoopBudget, loopBudget, type RateLimit } from '@mesh/core/limits'
import type { Multiaddr } from '@multiformats/multiaddr'
import { ipOf, isLoopbackIp } from '../addresses/address-rules.ts'
import { MDNS_FINDS, MDNS_PACKETS, MDNS_QUERY_MAX_MS, MDNS_QUERY_MIN_MS } from './limits.ts'
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
  /** Calls the listener with packets that came from any link, our own among them, and the address that each came from. */
  onPacket(listener: (packet: Uint8Array, from: string) => void): void
  /** Looks for interfaces that came or went. */
  refresh(): Promise<void>
  close(): Promise<void>
}

interface MdnsInit {
  readonly self: string
  /** The service name, from the network's configuration. */
  readonly service: string
  /** Gives the addresses to tell, each with `/p2p/` and none over a relay. It goes through all interfaces. */
  readonly addresses: () => readonly Multiaddr[]
  /** @param from the address that the answer came from */
  readonly found: (find: Find, from: string) => void
}

/** How old the last question has to be, in ms, for another one to count: each comes on every link, and this node's own too. */
const SAME_QUESTION_MS = 1_000
/** The least time between two answers, in ms; RFC 6762, section 6, says one second. */
const ANSWER_GAP_MS = 1_000
/** The time over which answers are spread, in ms, as all nodes hear the question at once. */
const ANSWER_SPREAD_MS = 20
/** When a new node announces itself a second time, in ms, for those who lost the first announcement. */
const ANNOUNCE_AGAIN_MS = 1_000

interface MdnsComponents {
  readonly multicast: Multicast
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class Mdns {
  readonly #init: MdnsInit
  readonly #components: MdnsComponents
  readonly #log: Logger
  /** The random label that stands for this node as long as it runs. */
  readonly #instance: string
  /** When this node answered last, and when it or another asked last, in monotonic ms. */
  #lastAnswerMs = Number.NEGATIVE_INFINITY
  #lastQuestionMs = Number.NEGATIVE_INFINITY
  #isAnswering = false
  readonly #timers = new Set<() => void>()
  readonly #packets: RateLimit
  readonly #finds: RateLimit
  readonly #budget: LoopBudget
  #intervalMs = MDNS_QUERY_MIN_MS
  #cancelQuery: (() => void) | undefined
  #isStopped = false

  constructor(init: MdnsInit, components: MdnsComponents) {
    this.#init = init
    this.#components = components
    this.#log = components.logger.child('mdns')
    const { clock } = components
    this.#packets = createRate(MDNS_PACKETS, clock)
    this.#finds = createRate(MDNS_FINDS, clock)
    this.#budget = loopBudget(clock)
    this.#instance = Array.from(components.random.bytes(40), (byte) => (byte % 36).toString(36)).join('')
  }

  /** Begins to ask, to answer and to announce this node. */
  start(): void {
    this.#components.multicast.onPacket((bytes, from) => this.#onPacket(bytes, from))
    void this.#ask()
    this.#answerSoon()
    this.#later(ANNOUNCE_AGAIN_MS, () => this.#answerSoon())
  }

  readonly stop = async (): Promise<void> => {
    if (this.#isStopped) return
    const { multicast } = this.#components
    this.#answer(0)
    this.#isStopped = true
    this.#cancelQuery?.()
    for (const cancel of this.#timers) cancel()
    await multicast.close()
  }

  #onPacket(bytes: Uint8Array, from: string): void {
    const isRead = this.#budget.isTimeLeft('strangers') && this.#packets.take({ address: from })
    if (this.#isStopped || !isRead) return
    const packet = readPacket(bytes, this.#init.service)
    if (packet === undefined) return
    if (packet.kind === 'query') {
      this.#answerSoon()
      const isNew = this.#components.clock.monotonic() - this.#lastQuestionMs >= SAME_QUESTION_MS
      // jitter decides who asks next
      if (isNew) this.#noteQuestion(1 + this.#components.random.float() / 2)
      return
    }
    const finds = packet.finds.filter(({ peer }) => peer !== this.#init.self)
    for (const find of finds) {
      if (!this.#finds.take({ address: from })) return
      this.#init.found({ ...find, from: addressGroup(from) }, from)
    }
  }

  // asking

  /** Puts this node's next question off, also for another's, which serves all (RFC 6762, section 7.3). */
  #noteQuestion(jitter = 1): void {
    const { clock, random } = this.#components
    this.#lastQuestionMs = clock.monotonic()
    this.#intervalMs = Math.min(MDNS_QUERY_MAX_MS, this.#intervalMs * (1.5 + random.float()))
    this.#cancelQuery?.()
    this.#cancelQuery = clock.after(this.#intervalMs * jitter, () => void this.#ask())
  }

  async #ask(): Promise<void> {
    const { multicast } = this.#components
    await multicast
      .refresh()
      .catch((error: unknown) => this.#log.debug('interfaces not read', { reason: String(error) }))
    if (this.#isStopped) return
    const query = buildQuery(this.#init.service)
    for (const link of multicast.links()) multicast.send(link, query)
    this.#noteQuestion()
  }

  // answering

  /** Answers soon, or when the gap is over; one answer serves all who asked until then. */
  #answerSoon(): void {
    if (this.#isAnswering) return
    this.#isAnswering = true
    const { random, clock } = this.#components
    const gapLeftMs = this.#lastAnswerMs + ANSWER_GAP_MS - clock.monotonic()
    this.#later(Math.max(random.float() * ANSWER_SPREAD_MS, gapLeftMs), () => {
      this.#isAnswering = false
      this.#answer()
    })
  }

  /** Answers on every link. */
  #answer(ttl?: number): void {
    const { service, addresses } = this.#init
    const { multicast, clock } = this.#components
    this.#lastAnswerMs = clock.monotonic()
    const own = addresses()
    for (const link of multicast.links()) {
      const told = addressesOn(link, own)
      if (told.length === 0) continue
      const more = ttl === undefined ? {} : { ttl }
      const answer = buildAnswer({ service, instance: this.#instance, addresses: told, host: link, ...more })
      multicast.send(link, answer)
    }
  }

  #later(delayMs: number, run: () => void): void {
    const cancel = this.#components.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }
}

/** Chooses what leads to this node from a link; readers that take only some addresses should get those of this link. */
function addressesOn({ address }: MulticastLink, own: readonly Multiaddr[]): readonly string[] {
  const isLocal = address.startsWith('127.') || address === '::1'
  return own
    .filter((each) => {
      const ip = ipOf(each)
      return isLocal || ip === undefined || !isLoopbackIp(ip)
    })
    .map(String)
    .toSorted((a, b) => Number(b.includes(address)) - Number(a.includes(address)))
}

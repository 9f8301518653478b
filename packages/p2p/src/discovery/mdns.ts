/**
 * Finds members on the same link: asks, answers, and reads what others answer. Everybody hears every answer, so a
 * question that somebody else asked need not be asked again: a link of twenty idle nodes carries about one a minute.
 */
import type { Clock, Logger, Random } from '@mesh/core'
import { MAX_MDNS_PACKETS_PER_SECOND, MDNS_QUERY_MAX_MS, MDNS_QUERY_MIN_MS } from '../limits.ts'
import type { Find } from './find.ts'
import { buildAnswer, buildQuery, readPacket } from './mdns-records.ts'

/** One network interface and family that multicast goes out on. */
export interface MulticastLink {
  readonly id: string
  readonly family: 4 | 6
  /** This machine's address on it. */
  readonly address: string
}

/** What mDNS needs from sockets. */
export interface Multicast {
  links(): readonly MulticastLink[]
  send(link: MulticastLink, packet: Uint8Array): void
  /** Packets that came from any link, our own among them. */
  onPacket(listener: (packet: Uint8Array) => void): void
  /** Looks for interfaces that came or went. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface MdnsInit {
  readonly self: string
  /** From the network's configuration. */
  readonly service: string
  /** Addresses to tell on this link, each with `/p2p/`. */
  readonly addresses: (link: MulticastLink) => readonly string[]
  readonly found: (find: Find) => void
}

/** No second answer on a link within this time (RFC 6762, section 6, says one second). */
const ANSWER_GAP_MS = 1_000
/** Answers are spread over this time, as all nodes hear the question at once. */
const ANSWER_SPREAD_MS = 20
/** The second announcement of a new node, for those who lost the first. */
const ANNOUNCE_AGAIN_MS = 1_000

export interface Mdns {
  stop(): Promise<void>
}

export function startMdns(
  init: MdnsInit,
  components: {
    readonly multicast: Multicast
    readonly clock: Clock
    readonly random: Random
    readonly logger: Logger
  },
): Mdns {
  const { multicast, clock, random } = components
  const log = components.logger.child('mdns')
  const instance = Array.from(random.bytes(40), (byte) => (byte % 36).toString(36)).join('')
  const lastAnswer = new Map<string, number>()
  const answering = new Set<string>()
  const timers = new Set<() => void>()
  let interval = MDNS_QUERY_MIN_MS
  let cancelQuery: (() => void) | undefined
  let stopped = false
  let second = 0
  let packets = 0

  function later(delayMs: number, run: () => void): void {
    const cancel = clock.after(delayMs, () => {
      timers.delete(cancel)
      run()
    })
    timers.add(cancel)
  }

  function tell(link: MulticastLink, ttl?: number): void {
    lastAnswer.set(link.id, clock.now())
    const addresses = init.addresses(link)
    if (addresses.length === 0) return
    const more = ttl === undefined ? {} : { ttl }
    multicast.send(link, buildAnswer({ service: init.service, instance, addresses, host: link, ...more }))
  }

  /** On each link soon, or when its gap is over; one answer serves all who asked until then. */
  function answerSoon(): void {
    for (const link of multicast.links()) {
      if (answering.has(link.id)) continue
      answering.add(link.id)
      const gapEnds = (lastAnswer.get(link.id) ?? 0) + ANSWER_GAP_MS
      later(Math.max(random.float() * ANSWER_SPREAD_MS, gapEnds - clock.now()), () => {
        answering.delete(link.id)
        tell(link)
      })
    }
  }

  function scheduleQuery(delayMs: number): void {
    cancelQuery?.()
    cancelQuery = clock.after(delayMs, () => void ask())
  }

  async function ask(): Promise<void> {
    await multicast
      .refresh()
      .catch((error: unknown) => log.debug('interfaces not read', { reason: String(error) }))
    if (stopped) return
    const query = buildQuery(init.service)
    for (const link of multicast.links()) multicast.send(link, query)
    interval = Math.min(MDNS_QUERY_MAX_MS, interval * (1.5 + random.float()))
    scheduleQuery(interval)
  }

  multicast.onPacket((bytes) => {
    if (stopped || isFlooded()) return
    const packet = readPacket(bytes, init.service)
    if (packet === undefined) return
    if (packet.kind === 'query') {
      answerSoon()
      // once the backoff has ended, somebody's question serves all; jitter decides who asks next
      if (interval >= MDNS_QUERY_MAX_MS) scheduleQuery(interval * (1 + random.float() / 2))
      return
    }
    for (const find of packet.finds) if (find.peer !== init.self) init.found(find)
  })

  function isFlooded(): boolean {
    const now = Math.floor(clock.now() / 1_000)
    if (now !== second) [second, packets] = [now, 0]
    return ++packets > MAX_MDNS_PACKETS_PER_SECOND
  }

  void ask()
  answerSoon()
  later(ANNOUNCE_AGAIN_MS, answerSoon)

  return {
    async stop() {
      if (stopped) return
      for (const link of multicast.links()) tell(link, 0)
      stopped = true
      cancelQuery?.()
      for (const cancel of timers) cancel()
      await multicast.close()
    },
  }
}

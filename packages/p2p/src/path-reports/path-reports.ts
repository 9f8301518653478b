/**
 * Members tell each other on request, over `/mesh/paths/1`, how they reach other members (docs/PROTOCOLS.md, 'Paths:
 * `/mesh/paths/1`'). Opening a channel is the question; the answer is one message.
 *
 * 1. `reports` answers at once from what was told before, and queues the members that were not asked of late
 * 2. a few of them are asked at a time; each answer is checked and kept
 * 3. a member that asks gets this node's own report
 */
import { type Logger, type PeerId, toError, tryParsePeerId, untilAborted, withDeadline } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { Channel, Channels } from '../p2p-node.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { PATHS_PROTOCOL } from '../protocols.ts'
import {
  MAX_ASKED_AT_ONCE,
  MAX_KEPT_REPORTS,
  MAX_REPORT_BYTES,
  REPORT_MAX_AGE_MS,
  REPORT_TIMEOUT_MS,
} from './limits.ts'
import { OwnReport, type OwnReportComponents } from './own-report.ts'
import type { PathReport, ToldPaths } from './path-report.ts'
import { decodePaths } from './paths-message.ts'

interface PathReportsComponents extends OwnReportComponents {
  readonly self: PeerId
  readonly channels: Pick<Channels, 'handle' | 'open'>
  readonly spoken: Pick<SpokenProtocols, 'of'>
  readonly logger: Logger
}

/** The last question to one member, and its answer. Times are monotonic. */
interface Asked {
  readonly askedAt: number
  readonly told: (ToldPaths & { readonly at: number }) | undefined
  readonly isSilent: boolean
}

const OPTIONS = { maxMessageBytes: MAX_REPORT_BYTES, maxPerPeer: 2 }
const NOTHING: ToldPaths = { paths: [], more: 0 }

export class PathReports {
  readonly #parts: PathReportsComponents
  readonly #log: Logger
  readonly #stopped = new AbortController()
  readonly #own: OwnReport
  readonly #asked = new Map<PeerId, Asked>()
  #queue: PeerId[] = []
  #running = 0

  constructor(components: PathReportsComponents) {
    this.#parts = components
    this.#log = components.logger.child('paths')
    this.#own = new OwnReport(components)
  }

  async start(): Promise<void> {
    await this.#parts.channels.handle(PATHS_PROTOCOL, OPTIONS, (channel) => this.#own.answer(channel))
  }

  stop(): void {
    this.#stopped.abort(new Error('stopped'))
    this.#queue = []
    this.#asked.clear()
  }

  /** Gives this node's own report, then one for each connected member. */
  reports(): readonly PathReport[] {
    const members = this.#own.members()
    const ids = members.flatMap(({ id }) => tryParsePeerId(id) ?? [])
    const own = { peer: this.#parts.self, state: 'told', ageMs: 0, ...this.#own.tell(members) } as const
    this.#ask(ids)
    return [own, ...ids.map((peer) => this.#reportOf(peer))]
  }

  #reportOf(peer: PeerId): PathReport {
    const { told, isSilent = false } = this.#asked.get(peer) ?? {}
    if (this.#speaks(peer) === false) return { peer, state: 'unsupported', ageMs: undefined, ...NOTHING }
    if (isSilent || told === undefined)
      return { peer, state: isSilent ? 'silent' : 'asked', ageMs: undefined, ...NOTHING }
    const { at, paths, more } = told
    return { peer, state: 'told', ageMs: this.#now() - at, paths, more }
  }

  /** Queues the members that were not asked of late, the least recently asked first. */
  #ask(members: readonly PeerId[]): void {
    if (this.#stopped.signal.aborted) return
    const present = new Set(members)
    for (const peer of this.#asked.keys()) if (!present.has(peer)) this.#asked.delete(peer)
    const askedAt = (peer: PeerId) => this.#asked.get(peer)?.askedAt ?? Number.NEGATIVE_INFINITY
    this.#queue = members
      .filter((peer) => this.#speaks(peer) === true && this.#isOld(askedAt(peer)))
      .sort((a, b) => (askedAt(a) < askedAt(b) ? -1 : 1))
      .slice(0, MAX_KEPT_REPORTS)
    this.#askNext()
  }

  #askNext(): void {
    while (this.#running < MAX_ASKED_AT_ONCE) {
      const peer = this.#queue.shift()
      if (peer === undefined) return
      if (!this.#makePlace(peer)) continue
      this.#running++
      void this.#askOne(peer).finally(() => {
        this.#running--
        this.#askNext()
      })
    }
  }

  /** Gives up the oldest report for a member without one; false when all are young. */
  #makePlace(peer: PeerId): boolean {
    if (this.#asked.has(peer) || this.#asked.size < MAX_KEPT_REPORTS) return true
    const [oldest, { askedAt }] = [...this.#asked].reduce((a, b) => (b[1].askedAt < a[1].askedAt ? b : a))
    return this.#isOld(askedAt) && this.#asked.delete(oldest)
  }

  async #askOne(peer: PeerId): Promise<void> {
    const askedAt = this.#now()
    const before = this.#asked.get(peer)
    this.#asked.set(peer, { askedAt, told: before?.told, isSilent: before?.isSilent ?? false })
    const told = await this.#read(peer).catch((error: unknown) => {
      this.#log.debug('paths not told', { peer, reason: String(error) })
      return undefined
    })
    // the member may have left, and another one has its place
    if (this.#asked.get(peer)?.askedAt !== askedAt) return
    const kept = told === undefined ? undefined : { ...told, at: this.#now() }
    this.#asked.set(peer, { askedAt, told: kept, isSilent: kept === undefined })
  }

  /** @throws when the member does not answer in time */
  async #read(peer: PeerId): Promise<ToldPaths | undefined> {
    const { clock, channels, refusals } = this.#parts
    const reason = () => new Error(`no answer within ${REPORT_TIMEOUT_MS / 1_000} s`)
    const init = { clock, ms: REPORT_TIMEOUT_MS, signal: this.#stopped.signal, reason }
    return await withDeadline(init, async (signal) => {
      const channel = await channels.open(peer, PATHS_PROTOCOL, { ...OPTIONS, signal })
      try {
        const bytes = await untilAborted(firstMessage(channel), signal)
        const decode = async () => decodePaths(bytes)
        const told = await loopBudget(clock).run('members', decode, { key: peer, signal })
        if (told === undefined) refusals.refuse('paths.bad_message', { peer, protocol: PATHS_PROTOCOL })
        channel.close().catch(() => {})
        return told
      } catch (error) {
        channel.abort(toError(error))
        throw error
      }
    })
  }

  #speaks(peer: PeerId): boolean | undefined {
    return this.#parts.spoken.of(peer)?.has(PATHS_PROTOCOL)
  }

  #isOld(askedAt: number): boolean {
    return this.#now() - askedAt >= REPORT_MAX_AGE_MS
  }

  #now(): number {
    return this.#parts.clock.monotonic()
  }
}

async function firstMessage(channel: Channel): Promise<Uint8Array> {
  for await (const message of channel.messages()) return message
  throw new Error('the member said nothing')
}

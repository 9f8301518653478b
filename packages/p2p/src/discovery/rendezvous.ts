/**
 * Members meet in a DHT under a name that rotates (docs/WIRE.md 2.1). Each announces itself under the names of the time windows before,
 * at and after now, and looks for others there. Clocks may differ by a window.
 */
import { type Clock, type Logger, type Random, withDeadline } from '@mesh/core'
import type { Rendezvous } from '@mesh/network'
import {
  RENDEZVOUS_INTERVAL_MS,
  RENDEZVOUS_LONELY_INTERVAL_MS,
  RENDEZVOUS_START_MS,
  RENDEZVOUS_TIMEOUT_MS,
} from './limits.ts'
import type { Find } from './find.ts'

/** The DHT as rendezvous needs it. */
export interface RendezvousDht {
  /** Connects to the DHT when it is not; resolves with how many of its peers are known. */
  join(signal: AbortSignal): Promise<number>
  provide(name: string, signal: AbortSignal): Promise<void>
  findProviders(name: string, signal: AbortSignal): AsyncIterable<Find>
}

interface RendezvousInit {
  readonly rendezvousAt: (nowMs: number) => Rendezvous | undefined
  readonly dht: RendezvousDht
  readonly found: (find: Find) => void
  /** Called after each run with what went wrong, or undefined when nothing did. */
  readonly ran: (error: unknown) => void
  /** The time between two runs once members were found, in ms; `RENDEZVOUS_INTERVAL_MS` by default. */
  readonly intervalMs?: number
}

/** Begins to look; gives the function that stops it. */
export function startRendezvous(
  init: RendezvousInit,
  components: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): () => void {
  const { dht, intervalMs = RENDEZVOUS_INTERVAL_MS } = init
  const { clock, random } = components
  const log = components.logger.child('rendezvous')
  const stopped = new AbortController()
  let cancel: (() => void) | undefined
  let provided = { names: '', at: 0 }
  let finds = 0
  let interval = RENDEZVOUS_START_MS

  const inTime = <T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const reason = () => new Error('the DHT is too slow')
    return withDeadline({ clock, ms: RENDEZVOUS_TIMEOUT_MS, signal: stopped.signal, reason }, run)
  }

  async function look(name: string): Promise<void> {
    await inTime(async (signal) => {
      for await (const find of dht.findProviders(name, signal)) {
        finds++
        init.found(find)
      }
    })
  }

  /** Provides the names once for each window and interval: that is what spreads over many nodes and costs. */
  async function provide(names: readonly string[]): Promise<void> {
    const due = provided.names !== names.join() || clock.monotonic() - provided.at >= intervalMs
    if (!due) return
    await Promise.all(names.map((name) => inTime((signal) => dht.provide(name, signal))))
    provided = { names: names.join(), at: clock.monotonic() }
  }

  async function run(): Promise<void> {
    const rendezvous = init.rendezvousAt(clock.now())
    if (rendezvous === undefined) return
    const names = [...new Set([rendezvous.current, rendezvous.previous, rendezvous.next])]
    try {
      // a question to nobody has no answer
      if ((await inTime(dht.join)) > 0) {
        await Promise.all(names.map(look))
        await provide(names)
      }
      init.ran(undefined)
    } catch (error) {
      if (stopped.signal.aborted) return
      log.debug('rendezvous failed', { reason: String(error) })
      init.ran(error)
    }
    schedule(rendezvous.changesAtMs)
  }

  /** Plans the next run: at the next window at the latest, a little later for each member, or all would come at once. */
  function schedule(changesAtMs: number | undefined): void {
    if (stopped.signal.aborted) return
    // those who start together are not there yet at the first look
    interval = Math.min(2 * interval, intervalMs, finds === 0 ? RENDEZVOUS_LONELY_INTERVAL_MS : intervalMs)
    const untilChange = changesAtMs === undefined ? interval : changesAtMs - clock.now()
    const wait = Math.max(1_000, Math.min(interval, untilChange)) * (1 + random.float() / 10)
    cancel = clock.after(wait, () => void run())
  }

  void run()
  return () => {
    stopped.abort(new Error('stopped'))
    cancel?.()
  }
}

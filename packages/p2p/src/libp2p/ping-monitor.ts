/**
 * Pings each connection soon after it opens and then once a minute, and connections to relays of this node more often. A connection
 * that does not answer is checked (`liveness-checks.ts`).
 *
 * libp2p's own monitor is off. It measures only after a whole interval, pings all connections at the same moment, and ends a
 * connection at the first lost ping.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import { afterTurns, type Clock, type Logger, type Random } from '@mesh/core'
import { PING_INTERVAL_MS, PING_TIMEOUT_MS, RELAY_PING_INTERVAL_MS, RELAY_PING_TIMEOUT_MS } from './limits.ts'
import type { ConnectionChecks } from './liveness-checks.ts'
import { pingConnection } from './ping.ts'

interface PingMonitorInit {
  readonly host: Libp2p
  readonly onRtt: (peer: string, rttMs: number) => void
  /** True for a peer over which others reach this node. */
  readonly isRelay: (peer: string) => boolean
  /** The time between two pings of a connection; `PING_INTERVAL_MS` by default. */
  readonly intervalMs?: number
}

/** When the first ping goes out, in ms, so that identify and the membership proof are through. */
const FIRST_PING_MS = 1_000

/** Begins to ping; gives the function that stops it. */
export function startPingMonitor(
  init: PingMonitorInit,
  components: {
    readonly clock: Clock
    readonly random: Random
    readonly logger: Logger
    readonly checks: Pick<ConnectionChecks, 'check'>
  },
): () => void {
  const { host, intervalMs = PING_INTERVAL_MS } = init
  const { clock, random, checks } = components
  const log = components.logger.child('ping')
  const watched = new Map<string, { cancel: () => void }>()

  function watch(connection: Connection, delayMs: number): void {
    watched.set(connection.id, { cancel: clock.after(delayMs, () => void check(connection)) })
  }

  async function check(connection: Connection): Promise<void> {
    const state = watched.get(connection.id)
    if (state === undefined || connection.status !== 'open') return forget(connection)
    const isRelay = init.isRelay(connection.remotePeer.toString())
    const limit = new AbortController()
    const limitMs = isRelay ? RELAY_PING_TIMEOUT_MS : PING_TIMEOUT_MS
    const cancel = afterTurns(clock, limitMs, () => limit.abort(new Error('no answer to a ping')))
    state.cancel = cancel
    try {
      init.onRtt(
        connection.remotePeer.toString(),
        await pingConnection(connection, { clock, random, signal: limit.signal }),
      )
    } catch (error) {
      log.debug('ping failed', { peer: connection.remotePeer.toString(), reason: String(error) })
      void checks.check(connection)
    } finally {
      cancel()
    }
    const waitMs = isRelay ? Math.min(intervalMs, RELAY_PING_INTERVAL_MS) : intervalMs
    if (watched.has(connection.id)) watch(connection, waitMs * (0.9 + random.float() / 5))
  }

  function forget({ id }: Connection): void {
    watched.get(id)?.cancel()
    watched.delete(id)
  }
  const onOpen = (event: CustomEvent<Connection>) =>
    watch(event.detail, Math.min(intervalMs, FIRST_PING_MS * (0.5 + random.float())))
  const onClose = (event: CustomEvent<Connection>) => forget(event.detail)
  host.addEventListener('connection:open', onOpen)
  host.addEventListener('connection:close', onClose)
  return () => {
    host.removeEventListener('connection:open', onOpen)
    host.removeEventListener('connection:close', onClose)
    for (const { cancel } of watched.values()) cancel()
    watched.clear()
  }
}

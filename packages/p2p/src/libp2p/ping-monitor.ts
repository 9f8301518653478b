/**
 * Pings each connection soon after it opens and then once a minute; a connection that misses two in a row ends.
 *
 * libp2p's own monitor (libp2p 3.3.11, `connectionMonitor: { pingInterval }`) can be set to a minute, and is off here
 * because it measures a round trip only after the first whole interval, pings all connections at the same moment, and
 * ends a connection at the first ping that is lost.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import { afterTurns, type Clock, type Logger, type Random } from '@mesh/core'
import { PING_INTERVAL_MS, PING_TIMEOUT_MS } from '../limits.ts'
import { pingConnection } from './ping.ts'

interface PingMonitorInit {
  readonly host: Libp2p
  readonly onRtt: (peer: string, rttMs: number) => void
  /** The time between two pings of a connection; `PING_INTERVAL_MS` by default. */
  readonly intervalMs?: number
}

/** When the first ping goes out, in ms, so that identify and the membership proof are through. */
const FIRST_PING_MS = 1_000

/** Begins to ping; gives the function that stops it. */
export function startPingMonitor(
  init: PingMonitorInit,
  components: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): () => void {
  const { host, intervalMs = PING_INTERVAL_MS } = init
  const { clock, random } = components
  const log = components.logger.child('ping')
  const watched = new Map<string, { cancel: () => void; misses: number }>()

  function watch(connection: Connection, delayMs: number): void {
    const misses = watched.get(connection.id)?.misses ?? 0
    watched.set(connection.id, { misses, cancel: clock.after(delayMs, () => void check(connection)) })
  }

  async function check(connection: Connection): Promise<void> {
    const state = watched.get(connection.id)
    if (state === undefined || connection.status !== 'open') return forget(connection)
    const limit = new AbortController()
    const cancel = afterTurns(clock, PING_TIMEOUT_MS, () => limit.abort(new Error('no answer to a ping')))
    state.cancel = cancel
    try {
      init.onRtt(
        connection.remotePeer.toString(),
        await pingConnection(connection, { clock, random, signal: limit.signal }),
      )
      state.misses = 0
    } catch (error) {
      // a peer that does not speak ping has answered all the same
      state.misses =
        error instanceof Error && error.name === 'UnsupportedProtocolError' ? 0 : state.misses + 1
      log.debug('ping failed', { peer: connection.remotePeer.toString(), reason: String(error) })
      if (state.misses >= 2) connection.abort(new Error('two pings were not answered'))
    } finally {
      cancel()
    }
    if (watched.has(connection.id)) watch(connection, intervalMs * (0.9 + random.float() / 5))
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

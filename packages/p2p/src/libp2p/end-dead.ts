/**
 * Ends connections that carry nothing any more. WebRTC itself notices only after 10 to 30 seconds that the NAT between
 * forgot its mapping, and TCP after a minute and more that a machine lost its power or its link; until then streams hang.
 */
import type { Libp2p } from '@libp2p/interface'
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import { transportOf } from '../addresses/address-rules.ts'
import { DEAD_AFTER_MS, DEAD_STREAM_AFTER_MS } from '../limits.ts'
import { connectionsTo } from './connections.ts'
import { pingConnection } from './ping.ts'

/** Transports over UDP, on which what is lost is sent again soon. */
const OVER_UDP: ReadonlySet<string> = new Set(['webrtc', 'webrtc-direct', 'webtransport', 'quic-v1'])

interface EndDeadOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly signal: AbortSignal
}

/**
 * Pings the peer's connections and aborts those that do not answer. Resolves when all are judged; once the signal
 * is aborted none is ended any more.
 */
export async function endDead(
  host: Pick<Libp2p, 'getConnections'>,
  peer: PeerId,
  { clock, random, signal, logger }: EndDeadOptions,
): Promise<void> {
  await Promise.all(
    connectionsTo(host, peer).map(async (connection) => {
      const limit = new AbortController()
      const isOverUdp = OVER_UDP.has(transportOf(connection.remoteAddr) ?? '')
      const limitMs = isOverUdp ? DEAD_AFTER_MS : DEAD_STREAM_AFTER_MS
      const cancel = afterRunning(clock, limitMs, () => limit.abort(new Error('no answer')))
      try {
        await pingConnection(connection, { clock, random, signal: AbortSignal.any([limit.signal, signal]) })
      } catch {
        // an answer of any kind, a refusal too, shows that it carries
        if (!limit.signal.aborted || signal.aborted) return
        logger.debug('connection carries nothing any more', { peer, address: String(connection.remoteAddr) })
        connection.abort(new Error('carries nothing any more'))
      } finally {
        cancel()
      }
    }),
  )
}

/** The pieces in which time is counted, in ms. */
const PIECE_MS = 250

/**
 * Calls back when so many ms have passed in which this process ran: while it was held up it took no answers. The returned
 * function ends the wait.
 */
function afterRunning(clock: Clock, ms: number, onPassed: () => void): () => void {
  let [left, cancel] = [ms, () => {}]
  const pass = () => {
    const began = clock.monotonic()
    cancel = clock.after(PIECE_MS, () => {
      if (clock.monotonic() - began < 2 * PIECE_MS) left -= PIECE_MS
      if (left <= 0) onPassed()
      else pass()
    })
  }
  pass()
  return () => cancel()
}

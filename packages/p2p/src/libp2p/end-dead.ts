/**
 * Ends connections that carry nothing any more. WebRTC itself notices only after 10 to 30 seconds that the NAT between
 * forgot its mapping, and TCP after a minute and more that a machine lost its power or its link; until then streams hang.
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import { transportOf } from '../addresses/address-rules.ts'
import { DEAD_AFTER_MS, DEAD_STREAM_AFTER_MS, REPLACED_AFTER_MS, STOOD_BEFORE_MS } from '../limits.ts'
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
  options: EndDeadOptions,
): Promise<void> {
  const isOverUdp = ({ remoteAddr }: Connection) => OVER_UDP.has(transportOf(remoteAddr) ?? '')
  await Promise.all(
    connectionsTo(host, peer).map((connection) =>
      endSilent(connection, isOverUdp(connection) ? DEAD_AFTER_MS : DEAD_STREAM_AFTER_MS, options),
    ),
  )
}

/**
 * Looks at the connections to a peer that stood before when it comes by a new one, and ends those that do not answer while the
 * new one stands: a machine that lost its power, or went to another network, is back long before TCP gives the
 * older ones up, and streams would go on to be opened on them. The returned function ends the watch.
 */
export function endReplaced(
  host: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>,
  components: Omit<EndDeadOptions, 'signal'>,
): () => void {
  const stopping = new AbortController()
  const looking = new Set<string>()
  const look = async (connection: Connection, opened: Connection) => {
    const doubt = new AbortController()
    const onClose = () => doubt.abort(new Error('the new connection is gone'))
    opened.addEventListener('close', onClose, { once: true })
    const signal = AbortSignal.any([doubt.signal, stopping.signal])
    looking.add(connection.id)
    await endSilent(connection, REPLACED_AFTER_MS, { ...components, signal })
    looking.delete(connection.id)
    opened.removeEventListener('close', onClose)
  }
  const onOpen = ({ detail: opened }: CustomEvent<Connection>) => {
    const before = opened.timeline.open - STOOD_BEFORE_MS
    for (const connection of connectionsTo(host, opened.remotePeer.toString()))
      if (connection.timeline.open <= before && !looking.has(connection.id)) void look(connection, opened)
  }
  host.addEventListener('connection:open', onOpen)
  return () => {
    host.removeEventListener('connection:open', onOpen)
    stopping.abort(new Error('this node stops'))
  }
}

/** Pings one connection and aborts it where no answer comes in its time; not once the signal is aborted. */
async function endSilent(
  connection: Connection,
  limitMs: number,
  { clock, random, signal, logger }: EndDeadOptions,
): Promise<void> {
  const limit = new AbortController()
  const cancel = afterRunning(clock, limitMs, () => limit.abort(new Error('no answer')))
  try {
    await pingConnection(connection, { clock, random, signal: AbortSignal.any([limit.signal, signal]) })
  } catch {
    // an answer of any kind, a refusal too, shows that it carries
    if (!limit.signal.aborted || signal.aborted) return
    const [peer, address] = [connection.remotePeer.toString(), String(connection.remoteAddr)]
    logger.debug('connection carries nothing any more', { peer, address })
    connection.abort(new Error('carries nothing any more'))
  } finally {
    cancel()
  }
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

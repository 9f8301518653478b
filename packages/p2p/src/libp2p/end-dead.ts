/** Which connections are asked whether they still carry something (`liveness-checks.ts`), and when. */
import type { Connection, Libp2p } from '@libp2p/interface'
import type { PeerId } from '@mesh/core'
import { transportOf } from '../addresses/address-rules.ts'
import { DEAD_AFTER_MS, DEAD_STREAM_AFTER_MS, MAX_ASKED_RELAYS, REPLACED_AFTER_MS } from './limits.ts'
import { STOOD_BEFORE_MS } from '../limits.ts'
import type { ConnectionChecks } from './liveness-checks.ts'
import { allConnectionsTo } from './connections.ts'
import { isInDoubt } from './liveness.ts'

/** Transports over UDP, on which what is lost is sent again soon. */
const OVER_UDP: ReadonlySet<string> = new Set(['webrtc', 'webrtc-direct', 'webtransport', 'quic-v1'])

type Checks = Pick<ConnectionChecks, 'check' | 'onDoubt'>

interface AskRelays {
  readonly checks: Checks
  readonly isRelay: (peer: string) => boolean
}

/**
 * Asks the peer's connections, and ends those that do not answer. Resolves when all are judged; once the signal is aborted
 * none is ended any earlier than any other that is asked. Relays are asked, too, as they are the way around.
 */
export async function endDead(
  host: Pick<Libp2p, 'getConnections'>,
  peer: PeerId,
  { checks, signal, isRelay }: AskRelays & { readonly signal: AbortSignal },
): Promise<void> {
  const isOverUdp = ({ remoteAddr }: Connection) => OVER_UDP.has(transportOf(remoteAddr) ?? '')
  for (const connection of toRelays(host, isRelay)) void checks.check(connection)
  await Promise.all(
    allConnectionsTo(host, peer).map((connection) =>
      checks.check(connection, {
        endAfterMs: isOverUdp(connection) ? DEAD_AFTER_MS : DEAD_STREAM_AFTER_MS,
        signal,
      }),
    ),
  )
}

/**
 * Asks the older connections of a peer that comes by a new one, and ends those that do not answer while the new one stands. A machine
 * that lost power or changed networks is back long before TCP notices. The returned function ends the watch.
 */
export function endReplaced(
  host: Pick<Libp2p, 'getConnections' | 'addEventListener' | 'removeEventListener'>,
  checks: Checks,
): () => void {
  const onOpen = ({ detail: opened }: CustomEvent<Connection>) => {
    const gone = new AbortController()
    opened.addEventListener('close', () => gone.abort(new Error('the new connection is gone')), {
      once: true,
    })
    const before = opened.timeline.open - STOOD_BEFORE_MS
    for (const connection of allConnectionsTo(host, opened.remotePeer.toString())) {
      if (connection.timeline.open > before) continue
      void checks.check(connection, { endAfterMs: REPLACED_AFTER_MS, signal: gone.signal })
    }
  }
  host.addEventListener('connection:open', onOpen)
  return () => host.removeEventListener('connection:open', onOpen)
}

/** Checks the relays when a connection is in doubt, and all connections when a relay's is: NATs restart. */
export function askRelays(host: Pick<Libp2p, 'getConnections'>, { checks, isRelay }: AskRelays): () => void {
  return checks.onDoubt((doubtful) => {
    if (!isInDoubt(doubtful)) return
    const isToRelay = doubtful.direct && isRelay(doubtful.remotePeer.toString())
    const others = isToRelay ? host.getConnections() : toRelays(host, isRelay)
    for (const connection of others) if (!isInDoubt(connection)) void checks.check(connection)
  })
}

/** Some of the direct connections to peers that relay. */
function toRelays(
  host: Pick<Libp2p, 'getConnections'>,
  isRelay: AskRelays['isRelay'],
): readonly Connection[] {
  const relays = host
    .getConnections()
    .filter(({ direct, remotePeer }) => direct && isRelay(remotePeer.toString()))
  return relays.slice(0, MAX_ASKED_RELAYS)
}

/**
 * Ends connections over UDP that carry nothing any more. WebRTC itself notices only after 10 to 30 seconds that the NAT
 * between forgot its mapping, and until then streams on it hang.
 */
import type { Libp2p } from '@libp2p/interface'
import type { Clock, PeerId, Random } from '@mesh/core'
import { transportOf } from '../addresses/address-rules.ts'
import { DEAD_AFTER_MS } from '../limits.ts'
import { connectionsTo } from './connections.ts'
import { pingConnection } from './ping.ts'

/** Transports over UDP; those over TCP end with what carries them. */
const OVER_UDP: ReadonlySet<string> = new Set(['webrtc', 'webrtc-direct', 'webtransport', 'quic-v1'])

/**
 * Pings the peer's connections over UDP and aborts those that do not answer. Resolves when all are judged; once the signal
 * is aborted none is ended any more.
 */
export async function endDead(
  host: Pick<Libp2p, 'getConnections'>,
  peer: PeerId,
  { clock, random, signal }: { readonly clock: Clock; readonly random: Random; readonly signal: AbortSignal },
): Promise<void> {
  const doubted = connectionsTo(host, peer).filter(({ remoteAddr }) =>
    OVER_UDP.has(transportOf(remoteAddr) ?? ''),
  )
  await Promise.all(
    doubted.map(async (connection) => {
      const limit = new AbortController()
      const cancel = clock.after(DEAD_AFTER_MS, () => limit.abort(new Error('no answer')))
      try {
        await pingConnection(connection, { clock, random, signal: AbortSignal.any([limit.signal, signal]) })
      } catch {
        // an answer of any kind, a refusal too, shows that it carries
        if (limit.signal.aborted && !signal.aborted) connection.abort(new Error('carries nothing any more'))
      } finally {
        cancel()
      }
    }),
  )
}

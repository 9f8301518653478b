/** Runs libp2p's ping over one given connection (the service pings a peer over any). */
import type { Connection, Libp2p } from '@libp2p/interface'
import { type Clock, MeshError, type PeerId, type Random, toError, untilAborted } from '@mesh/core'
import { PING_TIMEOUT_MS } from './limits.ts'
import { connectionsTo } from './connections.ts'
import { describeDialError } from './describe-dial-error.ts'

/** The protocol of libp2p's own ping. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'
/** The length of a ping, which the protocol fixes. */
export const PING_BYTES = 32

/**
 * Measures a round trip over one connection, in ms.
 *
 * @throws the signal's reason, or what broke the stream
 */
export async function pingConnection(
  connection: Connection,
  { clock, random, signal }: { readonly clock: Clock; readonly random: Random; readonly signal: AbortSignal },
): Promise<number> {
  const stream = await connection.newStream([PING_PROTOCOL], { signal, runOnLimitedConnection: true })
  try {
    const sent = clock.monotonic()
    const answer = new Promise<void>((resolve, reject) => {
      let received = 0
      stream.addEventListener('message', ({ data }) => {
        received += data.byteLength
        if (received >= PING_BYTES) resolve()
      })
      stream.addEventListener('close', ({ error }) => reject(error ?? new Error('the ping was not answered')))
    })
    // a stream that ended before the ping was sent rejects it while nobody waits yet
    answer.catch(() => {})
    stream.send(random.bytes(PING_BYTES))
    await untilAborted(answer, signal)
    const rttMs = clock.monotonic() - sent
    stream.close().catch((error: unknown) => stream.abort(toError(error)))
    return rttMs
  } catch (error) {
    stream.abort(toError(error))
    throw error
  }
}

/**
 * Measures a round trip over the best connection to the peer, in ms. A connection that closes under the ping, as the second of two that were dialled
 * at once does, proves nothing while there is another: that one is tried.
 *
 * @throws MeshError `p2p.unreachable`
 */
export async function pingPeer(
  host: Pick<Libp2p, 'getConnections'>,
  peer: PeerId,
  options: { readonly clock: Clock; readonly random: Random; readonly signal?: AbortSignal },
): Promise<number> {
  const { clock, random, signal } = options
  const limit = new AbortController()
  const ended = AbortSignal.any(signal === undefined ? [limit.signal] : [limit.signal, signal])
  const cancel = clock.after(PING_TIMEOUT_MS, () => limit.abort(new Error('no answer to a ping')))
  const tried = new Set<Connection>()
  let cause: unknown
  try {
    for (;;) {
      const connection = connectionsTo(host, peer).find((open) => !tried.has(open))
      if (connection === undefined) throw unanswered(peer, cause)
      tried.add(connection)
      try {
        return await pingConnection(connection, { clock, random, signal: ended })
      } catch (error) {
        cause = error
        if (ended.aborted) throw unanswered(peer, cause)
      }
    }
  } finally {
    cancel()
  }
}

function unanswered(peer: PeerId, cause: unknown): MeshError {
  if (cause === undefined) return new MeshError('p2p.unreachable', `not connected to ${peer}`)
  return new MeshError('p2p.unreachable', `${peer} does not answer: ${describeDialError(cause)}`, { cause })
}

/** libp2p's ping over one given connection (the service pings a peer over any). */
import type { Connection } from '@libp2p/interface'
import type { Clock, Random } from '@mesh/core'

const PING_PROTOCOL = '/ipfs/ping/1.0.0'
/** Fixed by the protocol. */
const PING_BYTES = 32

/**
 * The round trip in milliseconds.
 * @throws the signal's reason, or what broke the stream
 */
export async function pingConnection(
  connection: Connection,
  { clock, random, signal }: { readonly clock: Clock; readonly random: Random; readonly signal: AbortSignal },
): Promise<number> {
  const stream = await connection.newStream([PING_PROTOCOL], { signal, runOnLimitedConnection: true })
  let onAbort = () => {}
  try {
    const sent = clock.now()
    const answer = new Promise<void>((resolve, reject) => {
      let received = 0
      stream.addEventListener('message', ({ data }) => {
        received += data.byteLength
        if (received >= PING_BYTES) resolve()
      })
      stream.addEventListener('close', ({ error }) => reject(error ?? new Error('the ping was not answered')))
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    stream.send(random.bytes(PING_BYTES))
    await answer
    const rttMs = clock.now() - sent
    stream.close().catch((error: unknown) => stream.abort(error instanceof Error ? error : new Error('ping')))
    return rttMs
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error(String(error)))
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

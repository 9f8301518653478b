/** Answers libp2p's pings, a few a second for each connection. The library's own service has no bound. */
import type { Stream } from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { type Clock, toError } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import { MAX_PING_STREAMS, PING_IDLE_MS } from './limits.ts'
import { PINGS } from '../limits.ts'
import { PING_BYTES, PING_PROTOCOL } from './ping.ts'
import { Uint8ArrayList } from 'uint8arraylist'

/** Takes the place of the library's answering side once a host has started; who pings faster than a person or a monitor does loses the stream. */
export async function answerPings(registrar: Pick<Registrar, 'handle'>, clock: Clock): Promise<void> {
  const rate = createRate({ perPeer: PINGS }, clock)
  await registrar.handle(
    PING_PROTOCOL,
    (stream, { id }) => answer(stream, { mayAnswer: () => rate.take({ peer: id }), clock }),
    { maxInboundStreams: MAX_PING_STREAMS, runOnLimitedConnection: true, force: true },
  )
}

function answer(
  stream: Stream,
  { mayAnswer, clock }: { readonly mayAnswer: () => boolean; readonly clock: Clock },
): void {
  let begun: Uint8Array = new Uint8Array()
  const end = (reason: string) => stream.abort(new Error(reason))
  const wait = () => clock.after(PING_IDLE_MS, () => end('no further ping'))
  let cancel = wait()
  stream.addEventListener('message', ({ data }) => {
    cancel()
    const bytes = new Uint8ArrayList(begun, data).subarray()
    let at = 0
    for (; at + PING_BYTES <= bytes.length; at += PING_BYTES) {
      if (!mayAnswer()) return end('too many pings')
      try {
        stream.send(bytes.subarray(at, at + PING_BYTES))
      } catch (error) {
        return stream.abort(toError(error))
      }
    }
    begun = bytes.subarray(at)
    cancel = wait()
  })
  stream.addEventListener('remoteCloseWrite', () => {
    stream.close().catch((error: unknown) => stream.abort(toError(error)))
  })
  stream.addEventListener('close', () => cancel())
}

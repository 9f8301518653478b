/**
 * Has a DHT tell of the peers that an answer names one after the other, in turns of the event loop. @libp2p/kad-dht 16.4.5 tells
 * of all of them as soon as an answer is read, and the answers to ten questions come in one block of bytes: two hundred peers
 * went to the peer store before anything else had its turn, 90 ms.
 * Report to send: 'Network._writeReadMessage dispatches an event for each peer of an answer at once'.
 *
 * Reaches into `KadDHT.network._writeReadMessage`; where it is missing nobody that an answer names is kept. Without it
 * `dht-answers.test.ts` fails; `npm run attack -- one-host-by-dht` answers so.
 */
import type { PeerInfo, Stream } from '@libp2p/interface'
import type { LoopTurns } from '@mesh/core'

interface Network {
  _writeReadMessage?: (
    stream: Stream,
    message: unknown,
    options: { readonly signal?: AbortSignal },
  ) => Promise<unknown>
  safeDispatchEvent(type: string, init: { readonly detail: PeerInfo }): boolean
}

/**
 * @param keep resolves when a peer is where the DHT looks for its addresses; the next one is told of then
 * @param turns the time of a turn that all answers share
 */
export function tellInTurns(
  dht: object,
  keep: (peer: PeerInfo) => Promise<unknown>,
  turns: Pick<LoopTurns, 'turn'>,
): void {
  const { network } = dht as { readonly network?: Network }
  const ask = network?._writeReadMessage
  if (network === undefined || ask === undefined) return
  network._writeReadMessage = async (stream, message, options) => {
    const told: PeerInfo[] = []
    const listener = Object.create(network, {
      safeDispatchEvent: {
        value: (_: string, { detail }: { readonly detail: PeerInfo }) => told.push(detail),
      },
    }) as Network
    const answer = await ask.call(listener, stream, message, options)
    for (const peer of told) {
      await turns.turn()
      options.signal?.throwIfAborted()
      await keep(peer)
      network.safeDispatchEvent('peer', { detail: peer })
    }
    return answer
  }
}

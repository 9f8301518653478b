/**
 * Has a DHT dial whom its questions lead to as this node dials others, within the bounds by host. @libp2p/kad-dht 16.4.5 opens its
 * streams, and pings those that it may keep, by libp2p's own dialler: whoever answers a question names as many peers as it
 * invents at the address of a third party, and the node dials each of them, at each of its addresses.
 * Report to send: 'kad-dht: take the function that dials peers as an option'.
 *
 * Stands for `openStream` and `isDialable` of `connectionManager` and for `ping.ping` of the components of a DHT that is not made yet; what the library
 * dials by another way is not bounded. Without it `dht-dials.test.ts` fails; `npm run attack -- one-host-by-dht` answers so.
 */
import type { AbortOptions, PeerId } from '@libp2p/interface'
import type { ConnectionManager } from '@libp2p/interface-internal'
import type { LoopTurns } from '@mesh/core'

interface Dialling {
  readonly connectionManager: ConnectionManager
  readonly ping: { ping(peer: PeerId, options?: AbortOptions): Promise<number> }
}

/**
 * @param connect resolves when a connection to a peer stands
 * @param turns the time of a turn that all looks at peers and dials share: a question asks ten peers at a time, each of which
 *   names twenty others
 */
export function dialWithinBounds<T extends Dialling>(
  components: T,
  connect: (peer: PeerId, options: AbortOptions) => Promise<unknown>,
  turns: Pick<LoopTurns, 'turn'>,
): T {
  const { connectionManager, ping } = components
  const isDialable: ConnectionManager['isDialable'] = async (...asked) => {
    await turns.turn()
    return await connectionManager.isDialable(...asked)
  }
  const connectInTurn = async (peer: PeerId, options: AbortOptions) => {
    await turns.turn()
    await connect(peer, options)
  }
  const openStream: ConnectionManager['openStream'] = async (peer, protocol, options = {}) => {
    await connectInTurn(peer as PeerId, options)
    return await connectionManager.openStream(peer, protocol, options)
  }
  return Object.create(components, {
    connectionManager: {
      value: Object.create(connectionManager, {
        openStream: { value: openStream },
        isDialable: { value: isDialable },
      }),
    },
    ping: {
      value: {
        async ping(peer: PeerId, options: AbortOptions = {}) {
          await connectInTurn(peer, options)
          return await ping.ping(peer, options)
        },
      },
    },
  }) as T
}

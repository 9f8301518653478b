/**
 * Circuits of libp2p (relayed connections) without reservations of their own: the relay client of `reach`
 * alone chooses who relays for this node.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/circuit-relay-v2 4.2.13 asks whoever brings a circuit for a
 * reservation first, and then announces that peer as a relay of this node; there is no option to leave it, and no
 * gater for it.' Without it `test/relay.test.ts` ('nobody asks the stranger to relay') fails.
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { isPeerId, type Transport } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'

/** Builds the transport from a host's inner parts; it dials over relays, and asks nobody to relay for this node. */
export function buildCircuitTransport(components: object): Transport {
  // listening is all that the library asks the transport manager for
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  const { connectionManager } = components as { readonly connectionManager: ConnectionManager }
  // a relay whose connections are all in doubt is dialled anew: libp2p's dialler would give one of them
  const openConnection: ConnectionManager['openConnection'] = (relay, options) => {
    const force = isPeerId(relay) && connectionManager.getConnections(relay).length === 0
    return connectionManager.openConnection(relay, { ...options, force })
  }
  const dialling = Object.create(connectionManager, { openConnection: { value: openConnection } })
  return circuitRelayTransport()(
    Object.create(components, {
      transportManager: { value: transportManager },
      connectionManager: { value: dialling },
    }),
  )
}

/**
 * Circuits of libp2p (relayed connections) without reservations of their own: the relay client of `reach`
 * alone chooses who relays for this node.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/circuit-relay-v2 4.2.13 asks whoever brings a circuit for a
 * reservation first, and then announces that peer as a relay of this node; there is no option to leave it, and no
 * gater for it.' Without it `test/relay.test.ts` ('nobody asks the stranger to relay') fails.
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import type { Transport } from '@libp2p/interface'
import type { TransportManager } from '@libp2p/interface-internal'

/** Builds the transport from a host's inner parts; it dials over relays, and asks nobody to relay for this node. */
export function buildCircuitTransport(components: object): Transport {
  // listening is all that the library asks the transport manager for
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  return circuitRelayTransport()(Object.create(components, { transportManager: { value: transportManager } }))
}

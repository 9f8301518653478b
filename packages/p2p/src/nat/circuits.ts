/**
 * Circuits (libp2p's relayed connections), with reservations left to our relay client alone.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/circuit-relay-v2 4.2.13 asks whoever brings a circuit for a
 * reservation first, and then announces that peer as a relay of this node; there is no option to leave it, and no
 * gater for it.' The wrapper is covered by `test/relay.test.ts` ('nobody asks the stranger to relay').
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import type { TransportManager } from '@libp2p/interface-internal'
import { joinTransport, type MeshHost } from '../libp2p/base-host.ts'

/** Adds the transport to the host, without its own reservations. */
export async function joinCircuits(host: MeshHost): Promise<void> {
  const build = circuitRelayTransport()
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  // listening is all that the library asks the transport manager for
  await joinTransport(
    host,
    (components: object) =>
      build(Object.create(components, { transportManager: { value: transportManager } })),
    [],
  )
}

/** Circuits (libp2p's relayed connections), with reservations left to the relay client alone. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import type { TransportManager } from '@libp2p/interface-internal'
import { joinTransport, type MeshHost } from '../libp2p/base-host.ts'

/**
 * The library asks whoever brings a circuit for a reservation first, strangers too, and would announce them as a relay
 * of ours.
 */
export async function joinCircuits(host: MeshHost): Promise<void> {
  const build = circuitRelayTransport()
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  // listening is all that it asks the transports for
  await joinTransport(
    host,
    (components: object) =>
      build(Object.create(components, { transportManager: { value: transportManager } })),
    [],
  )
}

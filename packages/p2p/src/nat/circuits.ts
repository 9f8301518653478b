/** Circuits, libp2p's relayed connections: this node dials over relays, and is reached over those that it chose. */
import { joinTransport, type MeshHost } from '../libp2p/base-host.ts'
import { buildCircuitTransport } from '../upstream/circuit-reservations.ts'

/** Adds the transport to the host. */
export async function joinCircuits(host: MeshHost): Promise<void> {
  await joinTransport(host, buildCircuitTransport, [])
}

/** Circuits, libp2p's relayed connections: this node dials over relays, and is reached over those that it chose. */
import type { Clock } from '@mesh/core'
import { joinTransport, type MeshHost } from '../libp2p/base-host.ts'
import { buildCircuitTransport } from '../upstream/circuit-reservations.ts'

/** Adds the transport to the host. */
export async function joinCircuits(host: MeshHost, clock: Clock): Promise<void> {
  await joinTransport(host, (components: object) => buildCircuitTransport(components, clock), [])
}

/** DCUtR, libp2p's hole punching: two peers that a relay joins dial each other's addresses at the same moment. */
import { dcutr } from '@libp2p/dcutr'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { withoutRelayedAddresses } from '../upstream/hole-punch-addresses.ts'

/** Adds the service to the host. */
export async function joinHolePunch(host: MeshHost): Promise<void> {
  const { peerStore, connectionManager, registrar, addressManager, transportManager, logger } =
    host.services.parts.components
  const parts = { peerStore, connectionManager, registrar, addressManager, logger }
  await joinService(host, 'dcutr', () =>
    dcutr()({ ...parts, transportManager: withoutRelayedAddresses(transportManager) }),
  )
}

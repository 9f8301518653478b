/**
 * DCUtR (libp2p's hole punching), kept to addresses that lead straight to their peer.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/dcutr 3.0.28 takes RELAY/p2p-circuit/webrtc for a public address of
 * the peer, dials the relay at it, and closes the relayed connection in the belief that it is not needed any more.'
 * The wrapper is covered by `test/nat.test.ts`.
 */
import { dcutr } from '@libp2p/dcutr'
import { relayOf } from '../addresses/relayed-address.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'

/** Adds the service to the host. */
export async function joinHolePunch(host: MeshHost): Promise<void> {
  const { peerStore, connectionManager, registrar, addressManager, transportManager, logger } =
    host.services.parts.components
  const straight = {
    dialTransportForMultiaddr: (address: Parameters<typeof transportManager.dialTransportForMultiaddr>[0]) =>
      relayOf(address) === undefined ? transportManager.dialTransportForMultiaddr(address) : undefined,
  }
  // which addresses are worth a dial is all that the library asks the transport manager
  const parts = { peerStore, connectionManager, registrar, addressManager, logger }
  await joinService(host, 'dcutr', () =>
    dcutr()({ ...parts, transportManager: straight as typeof transportManager }),
  )
}

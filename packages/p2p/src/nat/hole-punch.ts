/** DCUtR, libp2p's hole punching: two peers that a relay joins dial each other's addresses at the same moment. */
import { dcutr } from '@libp2p/dcutr'
import type { TransportManager } from '@libp2p/interface-internal'
import type { Clock } from '@mesh/core'
import { createAddressRate } from '../addresses/address-rate.ts'
import { relayOf } from '../addresses/address-rules.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { HOLE_PUNCHES } from './limits.ts'
import { boundHolePunches } from '../upstream/dcutr/hole-punches.ts'
import type { DialFor } from '../addresses/dials-for-others.ts'

/** Adds the service to the host. */
export async function joinHolePunch(context: {
  readonly host: MeshHost
  readonly dialFor: DialFor
  readonly clock: Clock
}): Promise<void> {
  const { host, dialFor, clock } = context
  const { peerStore, connectionManager, registrar, addressManager, transportManager, logger } =
    host.services.parts.components
  const parts = { peerStore, connectionManager, registrar, addressManager, logger }
  const isAllowed = createAddressRate(HOLE_PUNCHES, clock)
  await joinService(host, 'dcutr', () =>
    boundHolePunches(
      dcutr()({ ...parts, transportManager: withoutRelayedAddresses(transportManager) }) as object,
      { isAllowed, dialFor },
    ),
  )
}

type DialTransport = Pick<TransportManager, 'dialTransportForMultiaddr'>

/** Hides addresses over relays: the library takes them for public ones, and closes the relayed connection. */
function withoutRelayedAddresses(transportManager: DialTransport): TransportManager {
  // hole punching asks the transport manager for nothing else
  const straight: DialTransport = {
    dialTransportForMultiaddr: (address) =>
      relayOf(address) === undefined ? transportManager.dialTransportForMultiaddr(address) : undefined,
  }
  return straight as TransportManager
}

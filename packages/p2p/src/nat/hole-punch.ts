/** DCUtR, libp2p's hole punching: two peers that a relay joins dial each other's addresses at the same moment. */
import { dcutr } from '@libp2p/dcutr'
import type { Clock } from '@mesh/core'
import { createAddressRate } from '../addresses/address-rate.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { HOLE_PUNCHES_BY_ADDRESS, HOLE_PUNCHES_IN_ALL } from '../nat-limits.ts'
import { boundHolePunches, type DialFor } from '../upstream/dials-for-others.ts'
import { withoutRelayedAddresses } from '../upstream/hole-punch-addresses.ts'

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
  const rates = { perAddress: HOLE_PUNCHES_BY_ADDRESS, all: HOLE_PUNCHES_IN_ALL }
  const isAllowed = createAddressRate(rates, clock)
  await joinService(host, 'dcutr', () =>
    boundHolePunches(
      dcutr()({ ...parts, transportManager: withoutRelayedAddresses(transportManager) }) as object,
      { isAllowed, dialFor },
    ),
  )
}

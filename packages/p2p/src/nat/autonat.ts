/** AutoNAT v2: others dial an address before it is told. A few members are asked again until one confirms it. */
import { autoNATv2 } from '@libp2p/autonat-v2'
import type { Connection } from '@libp2p/interface'
import type { AddressManager, Registrar } from '@libp2p/interface-internal'
import { createAddressRate } from '../addresses/address-rate.ts'
import { relayOf } from '../addresses/address-rules.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { AUTONAT_ASK_MS, DIAL_BACKS, MAX_AUTONAT_ASKED } from './limits.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { AUTONAT_REQUEST_PROTOCOL } from '../protocols.ts'
import { boundDialBacks } from '../upstream/autonat/dial-backs.ts'
import type { DialFor } from '../addresses/dials-for-others.ts'

/** Adds the service to the host; gives the function that stops asking, and libp2p stops the service. */
export async function joinAutoNat(
  context: Pick<P2pComponents, 'clock' | 'random'> & {
    readonly host: MeshHost
    readonly spoken: Pick<SpokenProtocols, 'speaks'>
    readonly dialFor: DialFor
  },
): Promise<() => void> {
  const { host, spoken, clock, random, dialFor } = context
  const { components } = host.services.parts
  const { peerStore, connectionManager, registrar, randomWalk, logger } = components
  const addressManager = withoutRelayedCandidates(components.addressManager)
  const parts = { peerStore, connectionManager, registrar, randomWalk, logger }
  const isAllowed = createAddressRate(DIAL_BACKS, clock)
  await joinService(host, 'autonat', () =>
    boundDialBacks(autoNATv2()({ ...parts, addressManager }) as object, { isAllowed, dialFor }),
  )

  function check(): void {
    cancel = clock.after(AUTONAT_ASK_MS, check)
    const now = clock.now()
    if (!addressManager.getAddressesWithMetadata().some(({ expires }) => expires < now)) return
    host
      .getConnections()
      .filter(
        ({ direct, remotePeer }) => direct && spoken.speaks(remotePeer.toString(), AUTONAT_REQUEST_PROTOCOL),
      )
      .map((connection) => ({ connection, order: random.float() }))
      .toSorted((a, b) => a.order - b.order)
      .slice(0, MAX_AUTONAT_ASKED)
      .forEach(({ connection }) => askAgain(registrar, connection))
  }
  let cancel = clock.after(AUTONAT_ASK_MS, check)
  return () => cancel()
}

/** Gives AutoNAT an address manager without addresses over relays: a failure there says nothing against the relay. */
export function withoutRelayedCandidates(addressManager: AddressManager): AddressManager {
  // AutoNAT asks the address manager for nothing else
  const straight: Pick<
    AddressManager,
    'getAddressesWithMetadata' | 'confirmObservedAddr' | 'removeObservedAddr'
  > = {
    getAddressesWithMetadata: () =>
      addressManager.getAddressesWithMetadata().filter(({ multiaddr }) => relayOf(multiaddr) === undefined),
    confirmObservedAddr: (address, options) => addressManager.confirmObservedAddr(address, options),
    removeObservedAddr: (address) => addressManager.removeObservedAddr(address),
  }
  return straight as AddressManager
}

/** Lets AutoNAT ask a connected peer as if it had just come: by itself it asks each peer once. */
function askAgain(registrar: Registrar, connection: Connection): void {
  for (const { onConnect } of registrar.getTopologies(AUTONAT_REQUEST_PROTOCOL))
    void onConnect?.(connection.remotePeer, connection)
}

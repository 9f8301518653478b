/**
 * AutoNAT v2: others dial an address that may be reachable from outside, and only then is it told. The library
 * (@libp2p/autonat-v2 2.0.15) asks a peer when it connects; an address that came later, as by a port mapping, would
 * wait for strangers. So members are asked again here while an address is unconfirmed (`test/port-mapping.test.ts`).
 */
import { autoNATv2 } from '@libp2p/autonat-v2'
import type { Connection } from '@libp2p/interface'
import type { AddressManager } from '@libp2p/interface-internal'
import { relayOf } from '../addresses/relayed-address.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { AUTONAT_ASK_MS, MAX_AUTONAT_ASKED } from '../limits.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { AUTONAT_REQUEST_PROTOCOL } from '../protocols.ts'

/** Adds the service to the host; gives the function that stops asking, and libp2p stops the service. */
export async function joinAutoNat(
  context: Pick<P2pComponents, 'clock' | 'random'> & {
    readonly host: MeshHost
    readonly spoken: Pick<SpokenProtocols, 'speaks'>
  },
): Promise<() => void> {
  const { host, spoken, clock, random } = context
  const { peerStore, connectionManager, registrar, addressManager, randomWalk, logger } =
    host.services.parts.components
  // whom a relay does not lead to says nothing against the relay
  const candidates = () =>
    addressManager.getAddressesWithMetadata().filter((entry) => relayOf(entry.multiaddr) === undefined)
  // what it asks of the address manager is these three
  const straight: Pick<
    AddressManager,
    'getAddressesWithMetadata' | 'confirmObservedAddr' | 'removeObservedAddr'
  > = {
    getAddressesWithMetadata: candidates,
    confirmObservedAddr: (address, options) => addressManager.confirmObservedAddr(address, options),
    removeObservedAddr: (address) => addressManager.removeObservedAddr(address),
  }
  const parts = { peerStore, connectionManager, registrar, randomWalk, logger }
  await joinService(host, 'autonat', () =>
    autoNATv2()({ ...parts, addressManager: straight as AddressManager }),
  )

  const ask = (connection: Connection) => {
    for (const topology of registrar.getTopologies(AUTONAT_REQUEST_PROTOCOL)) {
      // the library's own: knows whom it asked about which address
      void topology.onConnect?.(connection.remotePeer, connection)
    }
  }
  function check(): void {
    cancel = clock.after(AUTONAT_ASK_MS, check)
    const now = clock.now()
    if (!candidates().some(({ expires }) => expires < now)) return
    host
      .getConnections()
      .filter(
        ({ direct, remotePeer }) => direct && spoken.speaks(remotePeer.toString(), AUTONAT_REQUEST_PROTOCOL),
      )
      .map((connection) => ({ connection, order: random.float() }))
      .toSorted((a, b) => a.order - b.order)
      .slice(0, MAX_AUTONAT_ASKED)
      .forEach(({ connection }) => ask(connection))
  }
  let cancel = clock.after(AUTONAT_ASK_MS, check)
  return () => cancel()
}

/**
 * Chooses what libp2p's AutoNAT v2 asks, and lets it ask again. The library asks each peer once, when it
 * connects, and about every address, those that lead over a relay among them.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/autonat-v2 2.0.15 asks a peer when it connects, and never again: an
 * address that came later, as by a port mapping, waits for peers that connect later. It also asks about addresses
 * over relays, and takes a failure for a reason to tell the address no more.' Without the second question
 * `test/port-mapping.test.ts` fails; `autonat-questions.test.ts` shows what the library asks about by itself.
 */
import type { Connection } from '@libp2p/interface'
import type { AddressManager, Registrar } from '@libp2p/interface-internal'
import { relayOf } from '../addresses/relayed-address.ts'
import { AUTONAT_REQUEST_PROTOCOL } from '../protocols.ts'

/** Gives the address manager that AutoNAT is to ask: it knows no addresses that lead over a relay. */
export function withoutRelayedCandidates(addressManager: AddressManager): AddressManager {
  // what the library asks of the address manager is these three
  const straight: Pick<
    AddressManager,
    'getAddressesWithMetadata' | 'confirmObservedAddr' | 'removeObservedAddr'
  > = {
    // whom a relay does not lead to says nothing against the relay
    getAddressesWithMetadata: () =>
      addressManager.getAddressesWithMetadata().filter(({ multiaddr }) => relayOf(multiaddr) === undefined),
    confirmObservedAddr: (address, options) => addressManager.confirmObservedAddr(address, options),
    removeObservedAddr: (address) => addressManager.removeObservedAddr(address),
  }
  return straight as AddressManager
}

/** Lets AutoNAT ask a peer that is connected already, as if it had just come. */
export function askAgain(registrar: Registrar, connection: Connection): void {
  for (const topology of registrar.getTopologies(AUTONAT_REQUEST_PROTOCOL)) {
    // the library's own: knows whom it asked about which address
    void topology.onConnect?.(connection.remotePeer, connection)
  }
}

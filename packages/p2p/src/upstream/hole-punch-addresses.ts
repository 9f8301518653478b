/**
 * Keeps libp2p's hole punching (DCUtR) to addresses that lead straight to their peer.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/dcutr 3.0.28 takes RELAY/p2p-circuit/webrtc for a public address of
 * the peer, dials the relay at it, and closes the relayed connection in the belief that it is not needed any more.'
 * Without it `test/nat.test.ts` fails.
 */
import type { TransportManager } from '@libp2p/interface-internal'
import { relayOf } from '../addresses/relayed-address.ts'

type DialTransport = Pick<TransportManager, 'dialTransportForMultiaddr'>

/** Gives the transport manager that hole punching is to ask: it has no transport for addresses that lead over a relay. */
export function withoutRelayedAddresses(transportManager: DialTransport): TransportManager {
  const straight: DialTransport = {
    dialTransportForMultiaddr: (address) =>
      relayOf(address) === undefined ? transportManager.dialTransportForMultiaddr(address) : undefined,
  }
  // which addresses are worth a dial is all that the library asks the transport manager
  return straight as TransportManager
}

/**
 * Ends a reservation that this node granted. The relay of @libp2p/circuit-relay-v2 4.2.13 keeps each for its whole time, an
 * hour, after its peer has gone too, and grants none to others meanwhile when it has as many as it may.
 * Report to send: 'CircuitRelayServer has no way to end a reservation, and keeps those of peers that are gone'.
 *
 * Reaches into `CircuitRelayServer.reservationStore`; where it is missing reservations stay for their time. Without it
 * `granted-reservations.test.ts` fails.
 */
import { peerIdFromString } from '@libp2p/peer-id'

interface ReservationStore {
  removeReservation?(peer: ReturnType<typeof peerIdFromString>): void
}

/** @param relay the library's service; undefined where this node does not relay */
export function endReservation(relay: unknown, peer: string): void {
  const { reservationStore } = (relay ?? {}) as { readonly reservationStore?: ReservationStore }
  reservationStore?.removeReservation?.(peerIdFromString(peer))
}

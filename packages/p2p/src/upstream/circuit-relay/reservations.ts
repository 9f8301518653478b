/**
 * Keeps reservations by the monotonic clock, ends those that this node granted, and relays to connected members without one.
 *
 * @library @libp2p/circuit-relay-v2 4.2.13
 * @wraps `reservationStore` of the transport (`addRelay`, `getReservation`) and of the relay (`get`, `removeReservation`)
 * @without A member behind a NAT is cut off: the library compares the relay's time of day with its own, and never renews a
 * reservation when the two clocks differ. A relay keeps the reservations of members that have gone. A tab
 * reaches only members that reserved a place at its node.
 * @shown `upstream/circuit-relay/reservations.test.ts`, `test/relay.test.ts`, `test/browser-tab.test.ts`
 */
import type { PeerId, Transport } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock } from '@mesh/core'
import { RELAY_RESERVATION_MS } from '../../limits.ts'
import { openInner } from '../inner-names.ts'

const LIBRARY = '@libp2p/circuit-relay-v2 4.2.13'
/** How long before its end the library renews a reservation, in ms. */
const RENEW_BEFORE_MS = 300_000
/** Shortest time until it renews one, in ms. */
const LEAST_RENEW_MS = 30_000
/** How the library calls relays that it was told of. */
const CHOSEN = 'configured'

/** The reservations that this node has. */
interface ReservationStore extends EventTarget {
  addRelay(relay: PeerId, type: string): Promise<unknown>
  getReservation(relay: PeerId): unknown
}

interface Reserved {
  readonly relay: PeerId
  readonly details: {
    readonly timeout: Parameters<typeof clearTimeout>[0]
    /** `expire` is in seconds of the relay's time of day. */
    readonly reservation: { expire: bigint }
  }
}

/** Renews each reservation before it ends, whatever the time of day is here and at the relay. */
export function renewInTime(transport: Transport, clock: Clock): void {
  const { reservationStore } = openInner<{ reservationStore: ReservationStore }>(LIBRARY, transport, [
    'reservationStore',
  ])
  const store = openInner<ReservationStore>(LIBRARY, reservationStore, ['addRelay', 'getReservation'])
  const addRelay = store.addRelay.bind(store)
  // the library also asks each relay that it meets
  store.addRelay = (relay, type) =>
    type === CHOSEN ? addRelay(relay, type) : Promise.reject(new Error('relays are of our choice'))
  store.addEventListener('relay:created-reservation', (event) => {
    const { relay, details } = (event as CustomEvent<Reserved>).detail
    const { reservation } = details
    clearTimeout(details.timeout)
    clock.after(renewalDelay(reservation, clock.now()), () => {
      // it has ended, or was renewed meanwhile
      if (store.getReservation(relay) !== reservation) return
      // else the library may find that it lasts long enough
      reservation.expire = 0n
      // the library forgets a reservation that fails, and tells
      store.addRelay(relay, CHOSEN).catch(() => {})
    })
  })
}

/** An end in the past, or further away than relays let it be, was told by another clock. */
function renewalDelay({ expire }: { readonly expire: bigint }, nowMs: number): number {
  const saidMs = Number(expire) * 1_000 - nowMs
  const lastsMs = saidMs <= 0 ? RELAY_RESERVATION_MS : Math.min(saidMs, RELAY_RESERVATION_MS)
  return Math.max(lastsMs - RENEW_BEFORE_MS, LEAST_RENEW_MS)
}

/** The reservations that this node granted. */
interface GrantedReservations {
  removeReservation(peer: PeerId): void
}

/** Gives what ends the reservation of a peer on this node. @throws MeshError `p2p.incompatible_library` */
export function endReservations(relay: object): (peer: string) => void {
  const { reservationStore } = openInner<{ reservationStore: object }>(LIBRARY, relay, ['reservationStore'])
  const store = openInner<GrantedReservations>(LIBRARY, reservationStore, ['removeReservation'])
  return (peer) => store.removeReservation(peerIdFromString(peer))
}

/** One reservation as the library keeps it, as far as it reads it for a circuit. */
interface Reservation {
  /** Aborts when the reservation ends, which ends its circuits. */
  readonly signal: AbortSignal
  readonly limit: { readonly duration: number; readonly data: bigint }
}

interface RelayStore {
  get(peer: PeerId): Reservation | undefined
}

interface StandingInit {
  readonly isConnected: (peer: PeerId) => boolean
  /** The bounds of one circuit, in ms and bytes. */
  readonly limits: { readonly maxDurationMs: number; readonly maxBytes: number }
}

/**
 * Changes a relay that has not started yet: it carries circuits to each peer to which it has a direct connection. The connection
 * gate decides whether both ends are members.
 * @throws MeshError `p2p.incompatible_library`
 */
export function relayToConnected<T>(relay: T, { isConnected, limits }: StandingInit): T {
  const { reservationStore } = openInner<{ reservationStore: object }>(LIBRARY, relay, ['reservationStore'])
  const store = openInner<RelayStore>(LIBRARY, reservationStore, ['get'])
  const get = store.get.bind(store)
  const limit = { duration: limits.maxDurationMs, data: BigInt(limits.maxBytes) }
  store.get = (peer) =>
    get(peer) ?? (isConnected(peer) ? { signal: new AbortController().signal, limit } : undefined)
  return relay
}

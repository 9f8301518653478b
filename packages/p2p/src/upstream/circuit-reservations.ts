/**
 * Circuits of libp2p (relayed connections) without reservations of their own: the relay client of `reach`
 * alone chooses who relays for this node.
 *
 * The report to send to libp2p/js-libp2p: '@libp2p/circuit-relay-v2 4.2.13 asks whoever brings a circuit for a
 * reservation first, and then announces that peer as a relay of this node; there is no option to leave it, and no
 * gater for it.' Without it `test/relay.test.ts` ('nobody asks the stranger to relay') fails.
 *
 * And reservations last by the monotonic clock. A relay says by its own time of day when one ends, and the library holds that
 * against this machine's: where the two differ by more than five minutes, or one of them was set since, a reservation that has
 * ended was held to stand, for hours or for good; where this clock was an hour ahead there was none. The report to send:
 * 'a reservation whose expire is in the past fails (Tag ttl must be between greater than 0), and one is never refreshed when
 * the clock was set back before its timer fires.' Without it `circuit-reservations.test.ts` fails.
 */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { isPeerId, type PeerId, type PeerStore, type Transport } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import type { Clock } from '@mesh/core'
import { RELAY_RESERVATION_MS } from '../limits.ts'

/** How long before its end a reservation is asked for anew, in ms, and how soon at the earliest, as the library has it. */
const RENEW_BEFORE_MS = 300_000
const LEAST_RENEW_MS = 30_000

/** How the library names relays that it was told of. */
const CHOSEN = 'configured'

/** The library's part that holds this node's reservations. */
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

/** Builds the transport from a host's inner parts; it dials over relays, and asks nobody to relay for this node. */
export function buildCircuitTransport(components: object, clock: Clock): Transport {
  // listening is all that the library asks the transport manager for
  const transportManager: Pick<TransportManager, 'listen'> = {
    listen: () => Promise.reject(new Error('reservations are made at members of our choice')),
  }
  const { connectionManager, peerStore } = components as {
    readonly connectionManager: ConnectionManager
    readonly peerStore: PeerStore
  }
  // a relay whose connections are all in doubt is dialled anew: libp2p's dialler would give one of them
  const openConnection: ConnectionManager['openConnection'] = (relay, options) => {
    const force = isPeerId(relay) && connectionManager.getConnections(relay).length === 0
    return connectionManager.openConnection(relay, { ...options, force })
  }
  const dialling = Object.create(connectionManager, { openConnection: { value: openConnection } })
  const transport = circuitRelayTransport()(
    Object.create(components, {
      transportManager: { value: transportManager },
      connectionManager: { value: dialling },
      peerStore: { value: takingPastTimes(peerStore) },
    }),
  )
  renewInTime(
    (transport as unknown as { readonly reservationStore: ReservationStore }).reservationStore,
    clock,
  )
  return transport
}

/** Asks for each reservation anew before it ends, whatever is the time of day here and at the relay. */
function renewInTime(store: ReservationStore, clock: Clock): void {
  const addRelay = store.addRelay.bind(store)
  // the library also asks each relay that it meets, and takes back what stands there when it needs no more
  store.addRelay = (relay, type) =>
    type === CHOSEN ? addRelay(relay, type) : Promise.reject(new Error('relays are of our choice'))
  store.addEventListener('relay:created-reservation', (event) => {
    const { relay, details } = (event as CustomEvent<Reserved>).detail
    const { reservation } = details
    clearTimeout(details.timeout)
    clock.after(renewalDelay(reservation, clock.now()), () => {
      // it ended, or was asked for anew meanwhile
      if (store.getReservation(relay) !== reservation) return
      // else the library may find that it lasts long enough, and never ask again
      reservation.expire = 0n
      // the library forgets one that fails, and tells
      store.addRelay(relay, CHOSEN).catch(() => {})
    })
  })
}

/** The delay after which to ask anew. An end that has passed, or is further away than relays let it be, was told by another clock. */
function renewalDelay({ expire }: { readonly expire: bigint }, nowMs: number): number {
  const saidMs = Number(expire) * 1_000 - nowMs
  const lastsMs = saidMs <= 0 ? RELAY_RESERVATION_MS : Math.min(saidMs, RELAY_RESERVATION_MS)
  return Math.max(lastsMs - RENEW_BEFORE_MS, LEAST_RENEW_MS)
}

/** Tags a relay for as long as its reservation lasts, also where that seems to be over. */
function takingPastTimes(peerStore: PeerStore): PeerStore {
  const merge: PeerStore['merge'] = (peer, { tags, ...data }, options) => {
    const named = tags instanceof Map ? [...tags] : Object.entries(tags ?? {})
    const lasting = named.map(([name, tag]) => {
      const isOver = tag?.ttl !== undefined && tag.ttl < 0
      return [name, isOver ? { ...tag, ttl: RELAY_RESERVATION_MS } : tag] as const
    })
    return peerStore.merge(peer, { ...data, ...(tags !== undefined && { tags: new Map(lasting) }) }, options)
  }
  return new Proxy(peerStore, {
    get: (target, name) => {
      if (name === 'merge') return merge
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Bounds reservations by address. libp2p keeps those of peers that have gone, which end first here. */
import type { Clock } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import { RELAY_RESERVATIONS } from './limits.ts'
import { RELAY_RESERVATION_MS } from '../limits.ts'

interface ReservationLimitsInit {
  readonly clock: Clock
  /** How long a reservation stands that is not renewed, in ms; `RELAY_RESERVATION_MS` unless given. */
  readonly reservationMs?: number | undefined
  /** True for a peer that is connected. */
  readonly isHere: (peer: string) => boolean
  /** Ends the reservation of an evicted peer. */
  readonly end: (peer: string) => void
}

interface Granted {
  readonly place: Place
  readonly until: number
}

export class ReservationLimits {
  readonly #init: ReservationLimitsInit
  readonly #granted = new Map<string, Granted>()
  readonly #places = new Scope(RELAY_RESERVATIONS)

  constructor(init: ReservationLimitsInit) {
    this.#init = init
  }

  /** Notes a reservation, new or renewed; false when there is no place for it. */
  take(peer: string, address: string): boolean {
    const { clock, isHere, end, reservationMs = RELAY_RESERVATION_MS } = this.#init
    const now = clock.monotonic()
    this.#forget(peer)
    for (const [other, { until }] of this.#granted) if (until <= now) this.#forget(other)
    const gone = [...this.#granted.keys()].find((other) => !isHere(other))
    if (this.#places.total >= RELAY_RESERVATIONS.all && gone !== undefined) this.#end(gone)
    const evict = () => {
      this.#forget(peer)
      end(peer)
    }
    const place = this.#places.reserve({ peer, address, end: evict })
    if (place === undefined) return false
    this.#granted.set(peer, { place, until: now + reservationMs })
    return true
  }

  #end(peer: string): void {
    this.#forget(peer)
    this.#init.end(peer)
  }

  #forget(peer: string): void {
    this.#granted.get(peer)?.place.release()
    this.#granted.delete(peer)
  }
}

/**
 * Reservations by address. libp2p 4.2.13 keeps one for its whole time, after its peer has gone too, and bounds all of
 * them together: a member with many keys would take them all.
 */
import { BoundedMap, type Clock } from '@mesh/core'
import { MAX_RELAY_RESERVATIONS_PER_ADDRESS, RELAY_RESERVATION_MS } from '../limits.ts'

/** More than may stand at a time. */
const MAX_REMEMBERED = 1024

export class RelayShares {
  readonly #clock: Clock
  readonly #reservationMs: number
  readonly #granted = new BoundedMap<string, { readonly address: string; readonly until: number }>(
    MAX_REMEMBERED,
  )

  /** @param reservationMs how long a reservation stands that is not renewed */
  constructor(clock: Clock, reservationMs = RELAY_RESERVATION_MS) {
    this.#clock = clock
    this.#reservationMs = reservationMs
  }

  /** Notes a reservation, new or renewed; false when the peer's address has as many as it may. */
  take(peer: string, address: string): boolean {
    const now = this.#clock.monotonic()
    let others = 0
    for (const [holder, { address: held, until }] of this.#granted) {
      if (until <= now) this.#granted.delete(holder)
      else if (held === address && holder !== peer) others++
    }
    if (others >= MAX_RELAY_RESERVATIONS_PER_ADDRESS) return false
    this.#granted.set(peer, { address, until: now + this.#reservationMs })
    return true
  }
}

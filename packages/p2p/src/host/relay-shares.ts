/**
 * Reservations by address. libp2p 4.2.13 keeps one for its whole time, after its peer has gone too, and bounds all of
 * them together: a member with many keys would take them all. Of as many as there may be those of peers that are gone make
 * way first, then one of the address with the most.
 */
import { BoundedMap, type Clock, whoMakesWay } from '@mesh/core'
import {
  MAX_RELAY_RESERVATIONS,
  MAX_RELAY_RESERVATIONS_PER_ADDRESS,
  RELAY_RESERVATION_MS,
} from '../limits.ts'

interface RelaySharesInit {
  readonly clock: Clock
  /** How long a reservation stands that is not renewed, in ms; `RELAY_RESERVATION_MS` unless given. */
  readonly reservationMs?: number | undefined
  /** True for a peer that is connected. */
  readonly isHere: (peer: string) => boolean
  /** Ends the reservation of one that makes way. */
  readonly end: (peer: string) => void
}

interface Holder {
  readonly peer: string
  readonly address: string
}

/** More than may stand at a time. */
const MAX_REMEMBERED = 1024

export class RelayShares {
  readonly #init: RelaySharesInit
  readonly #granted = new BoundedMap<string, { readonly address: string; readonly until: number }>(
    MAX_REMEMBERED,
  )

  constructor(init: RelaySharesInit) {
    this.#init = init
  }

  /** Notes a reservation, new or renewed; false when the peer's address has as many as it may, or nobody makes way. */
  take(peer: string, address: string): boolean {
    const { clock, reservationMs = RELAY_RESERVATION_MS } = this.#init
    const now = clock.monotonic()
    const others: Holder[] = []
    for (const [holder, { address: held, until }] of this.#granted) {
      if (until <= now) this.#granted.delete(holder)
      else if (holder !== peer) others.push({ peer: holder, address: held })
    }
    const own = others.filter((each) => each.address === address).length
    if (own >= MAX_RELAY_RESERVATIONS_PER_ADDRESS) return false
    if (others.length >= MAX_RELAY_RESERVATIONS && !this.#makeRoom(others, address)) return false
    this.#granted.set(peer, { address, until: now + reservationMs })
    return true
  }

  /** False where nobody makes way for one more of the address. */
  #makeRoom(others: readonly Holder[], address: string): boolean {
    const { isHere, end } = this.#init
    const gone = others.find(({ peer }) => !isHere(peer))
    const leaving = gone ?? whoMakesWay(others, (holder) => holder.address, address)
    if (leaving === undefined) return false
    this.#granted.delete(leaving.peer)
    end(leaving.peer)
    return true
  }
}

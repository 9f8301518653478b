/**
 * Who may read events, or large answers, at the same time. Others on the network cannot take the places of this machine's own programs,
 * nor one address those of the others, and over the control socket a place is left whatever the listeners are asked.
 */
import { KeyedCounts } from '@mesh/core'
import { otherMachineOf } from '../listen/other-machine.ts'
import {
  MAX_EVENT_READERS,
  MAX_REMOTE_EVENT_READERS,
  MAX_REMOTE_EVENT_READERS_PER_ADDRESS,
  MAX_TCP_EVENT_READERS,
} from '../limits.ts'

export interface ReaderSeats {
  /**
   * Takes a place for a reader at this address; undefined or empty for one on a unix socket. The returned function
   * gives it back, once. Undefined when there is none.
   */
  take(address: string | undefined): (() => void) | undefined
}

/** How many places there are. */
export interface SeatLimits {
  readonly all: number
  /** The number of them over TCP; the others are for the control socket. */
  readonly tcp: number
  /** The number of these for other machines; the others are for this one. */
  readonly remote: number
  /** The number of these for one other machine: an IPv4 address, or a /64 of IPv6. */
  readonly perAddress: number
}

const EVENT_SEATS: SeatLimits = {
  all: MAX_EVENT_READERS,
  tcp: MAX_TCP_EVENT_READERS,
  remote: MAX_REMOTE_EVENT_READERS,
  perAddress: MAX_REMOTE_EVENT_READERS_PER_ADDRESS,
}

export function createReaderSeats(limits: SeatLimits = EVENT_SEATS): ReaderSeats {
  return new CountedSeats(limits)
}

class CountedSeats implements ReaderSeats {
  readonly #byKind = new KeyedCounts<'socket' | 'tcp'>()
  readonly #byAddress = new KeyedCounts<string>()
  readonly #limits: SeatLimits

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  take(address: string | undefined): (() => void) | undefined {
    const kind = address === undefined || address === '' ? 'socket' : 'tcp'
    const group = otherMachineOf(address)
    if (!this.#hasRoom(kind, group)) return undefined
    this.#byKind.add(kind)
    if (group !== undefined) this.#byAddress.add(group)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#byKind.remove(kind)
      if (group !== undefined) this.#byAddress.remove(group)
    }
  }

  #hasRoom(kind: 'socket' | 'tcp', group: string | undefined): boolean {
    if (this.#byKind.total >= this.#limits.all) return false
    if (kind === 'tcp' && this.#byKind.of('tcp') >= this.#limits.tcp) return false
    if (group === undefined) return true
    return this.#byAddress.total < this.#limits.remote && this.#byAddress.of(group) < this.#limits.perAddress
  }
}

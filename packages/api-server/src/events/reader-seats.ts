/**
 * Who may read events at the same time. Others on the network cannot take the places of this machine's own programs,
 * nor one address those of the others, and over the control socket a place is left whatever the listeners are asked.
 */
import { addressGroup, isLoopback } from '@mesh/core'
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

export function createReaderSeats(): ReaderSeats {
  return new CountedSeats()
}

class CountedSeats implements ReaderSeats {
  #all = 0
  #tcp = 0
  #remote = 0
  readonly #byAddress = new Map<string, number>()

  take(address: string | undefined): (() => void) | undefined {
    const isTcp = address !== undefined && address !== ''
    const group = isTcp && !isLoopback(address) ? addressGroup(address) : undefined
    if (!this.#hasRoom(isTcp, group)) return undefined
    this.#count(1, isTcp, group)
    let given = false
    return () => {
      if (given) return
      given = true
      this.#count(-1, isTcp, group)
    }
  }

  #hasRoom(isTcp: boolean, group: string | undefined): boolean {
    if (this.#all >= MAX_EVENT_READERS) return false
    if (isTcp && this.#tcp >= MAX_TCP_EVENT_READERS) return false
    if (group === undefined) return true
    const ofGroup = this.#byAddress.get(group) ?? 0
    return this.#remote < MAX_REMOTE_EVENT_READERS && ofGroup < MAX_REMOTE_EVENT_READERS_PER_ADDRESS
  }

  #count(change: 1 | -1, isTcp: boolean, group: string | undefined): void {
    this.#all += change
    if (isTcp) this.#tcp += change
    if (group === undefined) return
    this.#remote += change
    const ofGroup = (this.#byAddress.get(group) ?? 0) + change
    if (ofGroup === 0) this.#byAddress.delete(group)
    else this.#byAddress.set(group, ofGroup)
  }
}

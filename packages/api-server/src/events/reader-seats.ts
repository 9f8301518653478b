/**
 * Who may read events at the same time. Others on the network cannot take the places of this machine's own programs,
 * nor one address those of the others, and over the control socket a place is left whatever the listeners are asked.
 */
import { addressGroup, isLoopback, KeyedCounts } from '@mesh/core'
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
  readonly #byKind = new KeyedCounts<'socket' | 'tcp'>()
  readonly #byAddress = new KeyedCounts<string>()

  take(address: string | undefined): (() => void) | undefined {
    const kind = address === undefined || address === '' ? 'socket' : 'tcp'
    const group =
      address === undefined || kind === 'socket' || isLoopback(address) ? undefined : addressGroup(address)
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
    if (this.#byKind.total >= MAX_EVENT_READERS) return false
    if (kind === 'tcp' && this.#byKind.of('tcp') >= MAX_TCP_EVENT_READERS) return false
    if (group === undefined) return true
    return (
      this.#byAddress.total < MAX_REMOTE_EVENT_READERS &&
      this.#byAddress.of(group) < MAX_REMOTE_EVENT_READERS_PER_ADDRESS
    )
  }
}

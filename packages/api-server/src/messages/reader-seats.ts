/**
 * Who may read events, or large answers, at the same time. Others on the network cannot take the places of this machine's own programs,
 * nor one address those of the others, and over the control socket a place is left whatever the listeners are asked. Of those
 * who have all of a share, the longer known half stays, and the others make way in turn: readers that are idle for ever keep
 * nobody out.
 */
import { greatestGroup, KeyedCounts } from '@mesh/core'
import { otherMachineOf } from './other-machine.ts'
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
   * @param makeWay ends the reader, for one who comes later: without it the place is kept as long as the reader likes
   */
  take(address: string | undefined, makeWay?: () => void): (() => void) | undefined
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

interface Reader {
  readonly kind: 'socket' | 'tcp'
  /** The address of another machine. */
  readonly group: string | undefined
  readonly makeWay: (() => void) | undefined
}

class CountedSeats implements ReaderSeats {
  readonly #byKind = new KeyedCounts<'socket' | 'tcp'>()
  readonly #byAddress = new KeyedCounts<string>()
  /** The readers in the order in which they came. */
  readonly #readers = new Set<Reader>()
  readonly #limits: SeatLimits

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  take(address: string | undefined, makeWay?: () => void): (() => void) | undefined {
    const kind = address === undefined || address === '' ? 'socket' : 'tcp'
    const reader: Reader = { kind, group: otherMachineOf(address), makeWay }
    if (!this.#hasRoom(reader) && !this.#makeRoom(reader)) return undefined
    this.#readers.add(reader)
    this.#byKind.add(kind)
    if (reader.group !== undefined) this.#byAddress.add(reader.group)
    return () => this.#leave(reader)
  }

  /** Gives a place back; it does nothing the second time. */
  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    this.#byKind.remove(reader.kind)
    if (reader.group !== undefined) this.#byAddress.remove(reader.group)
  }

  #hasRoom({ kind, group }: Reader): boolean {
    if (this.#byKind.total >= this.#limits.all) return false
    if (kind === 'tcp' && this.#byKind.of('tcp') >= this.#limits.tcp) return false
    if (group === undefined) return true
    return this.#byAddress.total < this.#limits.remote && this.#byAddress.of(group) < this.#limits.perAddress
  }

  /** Ends a reader of the share that has no room for this one. False when none of them makes way. */
  #makeRoom(reader: Reader): boolean {
    const crowd = this.#crowdFor(reader)
    const latecomer = crowd[Math.floor(crowd.length / 2)]
    if (latecomer?.makeWay === undefined) return false
    this.#leave(latecomer)
    latecomer.makeWay()
    return this.#hasRoom(reader)
  }

  /** Those who share what has no room: an address, other machines, this one's listeners or its control socket. */
  #crowdFor({ kind, group }: Reader): readonly Reader[] {
    const { tcp, remote, perAddress } = this.#limits
    const readers = [...this.#readers]
    const others = readers.filter((each) => each.group !== undefined)
    if (group !== undefined && this.#byAddress.of(group) >= perAddress)
      return others.filter((each) => each.group === group)
    if (group !== undefined && this.#byAddress.total >= remote)
      return greatestGroup(others, (each) => each.group)
    const isListenerFull = kind === 'tcp' && this.#byKind.of('tcp') >= tcp
    return readers.filter(
      (each) => each.group === undefined && each.kind === (isListenerFull ? 'tcp' : 'socket'),
    )
  }
}

/**
 * How many of something members may have here at a time: each peer, all peers of one address, and all together. Where all
 * are taken, the address with the most makes way for one that has fewer: else whoever has a few addresses would hold all of
 * them for as long as it likes.
 */
import { addressGroup, greatestGroup, KeyedCounts, type PeerId } from '@mesh/core'
import { MAX_ADDRESS_CONNECTIONS, MAX_PEER_CONNECTIONS, MAX_SERVED_CONNECTIONS } from './limits.ts'

/** Keys cost a member nothing, addresses do. */
export interface SlotBounds {
  /** The number of slots that one peer may hold. */
  readonly perPeer: number
  /** The number of slots that the peers of one address may hold. */
  readonly perAddress: number
  /** The number of slots that all peers may hold. */
  readonly inAll: number
}

export interface Slots {
  /**
   * Takes a slot where one is free, or can be had.
   * @param holder.address where the peer comes from; undefined where that is not known, which counts as one address
   * @param holder.end called when the slot is given to somebody else, whose it is by then
   * @returns gives it back, once however often it is called; undefined: no more now
   */
  take(holder: Holder): (() => void) | undefined
  /** Is one free for the peer, so that nobody has to make way? */
  hasRoom(holder: Pick<Holder, 'peer' | 'address'>): boolean
  /** The number of slots that are taken. */
  readonly taken: number
}

export interface Holder {
  readonly peer: PeerId
  readonly address: string | undefined
  readonly end: () => void
}

interface Slot {
  readonly peer: PeerId
  readonly group: string
  readonly end: () => void
}

/** Those of connections to services and egress together. */
const CONNECTIONS: SlotBounds = {
  perPeer: MAX_PEER_CONNECTIONS,
  perAddress: MAX_ADDRESS_CONNECTIONS,
  inAll: MAX_SERVED_CONNECTIONS,
}

/** @param bounds default: those of connections to services and egress together */
export function createSlots(bounds: SlotBounds = CONNECTIONS): Slots {
  return new CountedSlots(bounds)
}

/** Those of programs of this machine and of the local network, which count by the address that they come from alone. */
export function createLocalSlots(inAll: number): LocalSlots {
  const slots = createSlots({ perPeer: inAll, perAddress: inAll, inAll })
  return {
    take: (address, end) => slots.take({ peer: (address ?? '') as PeerId, address, end }),
  }
}

export interface LocalSlots {
  /** Takes a slot as `Slots` does. @param address undefined: it comes over a unix socket */
  take(address: string | undefined, end: () => void): (() => void) | undefined
}

class CountedSlots implements Slots {
  readonly #bounds: SlotBounds
  /** The slots that are taken, in the order in which they were. */
  readonly #slots = new Set<Slot>()
  readonly #byPeer = new KeyedCounts<PeerId>()
  readonly #byAddress = new KeyedCounts<string>()

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#slots.size
  }

  hasRoom({ peer, address }: Pick<Holder, 'peer' | 'address'>): boolean {
    return this.#mayHaveMore(peer, groupOf(address)) && this.taken < this.#bounds.inAll
  }

  take({ peer, address, end }: Holder): (() => void) | undefined {
    const slot: Slot = { peer, group: groupOf(address), end }
    if (!this.#mayHaveMore(peer, slot.group)) return undefined
    if (this.taken >= this.#bounds.inAll && !this.#makeRoom(slot.group)) return undefined
    this.#slots.add(slot)
    this.#byPeer.add(peer)
    this.#byAddress.add(slot.group)
    return () => this.#release(slot)
  }

  #mayHaveMore(peer: PeerId, group: string): boolean {
    return this.#byPeer.of(peer) < this.#bounds.perPeer && this.#byAddress.of(group) < this.#bounds.perAddress
  }

  /** Ends the newest of the peer with the most at the address with the most, where that has more than the group will have. */
  #makeRoom(group: string): boolean {
    const [most, count] = this.#byAddress.greatest() ?? [group, 0]
    if (count <= this.#byAddress.of(group) + 1) return false
    const there = [...this.#slots].filter((slot) => slot.group === most)
    const newest = greatestGroup(there, ({ peer }) => peer).at(-1)
    if (newest === undefined) return false
    this.#release(newest)
    newest.end()
    return true
  }

  #release(slot: Slot): void {
    if (!this.#slots.delete(slot)) return
    this.#byPeer.remove(slot.peer)
    this.#byAddress.remove(slot.group)
  }
}

const groupOf = (address: string | undefined) => addressGroup(address ?? '')

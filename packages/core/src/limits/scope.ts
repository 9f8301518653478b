/**
 * Who may have a place: connections, streams, sessions, or bytes that wait. Bounds one peer, one address, the unproven and
 * all together. Keys cost an attacker nothing, so an address counts as well as a peer.
 */
import { addressGroup } from '../address-group.ts'

export interface ScopeLimits {
  /** Most of all together: a number of places, or of bytes where claims have a size. */
  readonly all: number
  /** Most of one peer. */
  readonly perPeer?: number
  /** Most of one address: IPv4, or a /64 of IPv6. */
  readonly perAddress?: number
  /** Most of the unproven together. They are also the first to go when all together have too much. */
  readonly unproven?: number
  /** Whose place is taken back, among those of the peer and address with the most; `newest` unless given. */
  readonly evict?: 'newest' | 'oldest' | 'largest'
}

export interface Claim {
  readonly peer?: string
  /** IP address or its group. A claim without one counts by its peer. */
  readonly address?: string
  /** Size of the place; 1 unless given. */
  readonly size?: number
  /** True while nothing shows that the peer is a member. */
  readonly isUnproven?: () => boolean
  /** Called when the place was taken back for another claim. A place without it is never taken back. */
  readonly end?: (reason: Error) => void
}

export interface Place {
  readonly size: number
  /** Changes the size. False: the bounds do not allow it, and the place is released. */
  resize(size: number): boolean
  /** Gives the place back, once however often it is called. */
  release(): void
}

/**
 * Grants places within its limits. When a limit is passed, it takes one place back: of the address with the most, there of
 * the peer with the most, by the rule of `evict`. Where that would be the new claim itself, it refuses the claim.
 */
export class Scope {
  readonly #limits: ScopeLimits
  readonly #held = new Set<Held>()
  readonly #byPeer = new Map<string, number>()
  readonly #byAddress = new Map<string, number>()
  #total = 0

  constructor(limits: ScopeLimits) {
    this.#limits = limits
  }

  /** The size of all places together. */
  get total(): number {
    return this.#total
  }

  /** Gives the size of an address's places. */
  totalOf(address: string): number {
    return this.#byAddress.get(addressGroup(address)) ?? 0
  }

  /** Gives a place; undefined when there is none. */
  reserve(claim: Claim): Place | undefined {
    const held = new Held(claim)
    this.#held.add(held)
    this.#count(held, held.size)
    if (!this.#enforce(held)) return undefined
    const release = () => this.#release(held)
    const resize = (size: number) => this.#resize(held, size)
    return {
      get size() {
        return held.size
      },
      resize,
      release,
    }
  }

  /** True where a claim could have a place and no other place would be taken back for it. */
  hasRoom({ peer = '', address = peer, size = 1 }: Omit<Claim, 'end'>): boolean {
    const { all, perPeer = all, perAddress = all } = this.#limits
    return (
      this.#total + size <= all &&
      (this.#byPeer.get(peer) ?? 0) + size <= perPeer &&
      this.totalOf(address) + size <= perAddress
    )
  }

  #resize(held: Held, size: number): boolean {
    if (!this.#held.has(held)) return false
    const grows = size > held.size
    this.#count(held, size - held.size)
    held.size = size
    return !grows || this.#enforce(held)
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#count(held, -held.size)
  }

  /** Takes places back until the limits hold; false when the claim that has grown lost its own. */
  #enforce(grown: Held): boolean {
    const evicted: Held[] = []
    for (let over = this.#over(grown); over !== undefined; over = this.#over(grown)) {
      const victim = this.#choose(over, grown)
      this.#release(victim)
      if (victim !== grown) evicted.push(victim)
      else break
    }
    for (const { end } of evicted) end?.(new Error('others need the place'))
    return this.#held.has(grown)
  }

  /** The places under the first limit that is passed. */
  #over({ peer, address }: Held): readonly Held[] | undefined {
    const { all, perPeer = all, perAddress = all, unproven } = this.#limits
    if ((this.#byPeer.get(peer) ?? 0) > perPeer) return this.#those((held) => held.peer === peer)
    if ((this.#byAddress.get(address) ?? 0) > perAddress)
      return this.#those((held) => held.address === address)
    if (this.#total <= Math.min(all, unproven ?? all)) return undefined
    const strangers = unproven === undefined ? [] : this.#those((held) => held.isUnproven())
    const ofStrangers = strangers.reduce((sum, { size }) => sum + size, 0)
    if (ofStrangers > (unproven ?? all)) return strangers
    if (this.#total <= all) return undefined
    return ofStrangers > 0 ? strangers : [...this.#held]
  }

  #those(isMeant: (held: Held) => boolean): readonly Held[] {
    return [...this.#held].filter(isMeant)
  }

  #choose(over: readonly Held[], grown: Held): Held {
    const free = over.filter((held) => held === grown || (held.end !== undefined && held.size > 0))
    const ofAddresses = largestGroups(free, ({ address }) => address)
    // no address loses a place to one that has as much
    const isTie = ofAddresses.includes(grown)
    const ofAddress = isTie ? ofAddresses.filter(({ address }) => address === grown.address) : ofAddresses
    const ofPeer = largestGroups(ofAddress, ({ peer }) => peer)
    const { evict = 'newest' } = this.#limits
    if (evict === 'oldest') return ofPeer[0] ?? grown
    if (evict === 'newest') return ofPeer.at(-1) ?? grown
    return ofPeer.reduce(
      (largest, held) => (held.size > largest.size ? held : largest),
      ofPeer.at(-1) ?? grown,
    )
  }

  #count({ peer, address }: Held, size: number): void {
    this.#total += size
    addTo(this.#byPeer, peer, size)
    addTo(this.#byAddress, address, size)
  }
}

class Held {
  readonly peer: string
  readonly address: string
  readonly isUnproven: () => boolean
  readonly end: ((reason: Error) => void) | undefined
  size: number

  constructor({ peer = '', address = peer, size = 1, isUnproven = () => false, end }: Claim) {
    this.peer = peer
    this.address = addressGroup(address)
    this.size = size
    this.isUnproven = isUnproven
    this.end = end
  }
}

/** The members of the group with the greatest size, or of several that are equal. */
function largestGroups(all: readonly Held[], keyOf: (held: Held) => string): readonly Held[] {
  const sizes = new Map<string, number>()
  for (const held of all) addTo(sizes, keyOf(held), held.size)
  const largest = Math.max(...sizes.values())
  return all.filter((held) => sizes.get(keyOf(held)) === largest)
}

function addTo(sizes: Map<string, number>, key: string, size: number): void {
  const sum = (sizes.get(key) ?? 0) + size
  if (sum === 0) sizes.delete(key)
  else sizes.set(key, sum)
}

/** Claims of other members that this ledger refuses, because it holds another one: of a race, or of a partition. */
import { BoundedMap, type Clock } from '@mesh/core'
import { LEASE_GRACE_MS, MAX_FUTURE_MS, MAX_SEEN_LEASES } from '../limits.ts'
import { type LeaseEntry, readLease } from './lease-entry.ts'

interface Rival extends LeaseEntry {
  /** When the claim was heard last, in monotonic ms. */
  readonly heardAt: number
}

interface LeaseRivalsComponents {
  readonly ledger: { readonly self: string }
  readonly clock: Clock
}

export class LeaseRivals {
  readonly #components: LeaseRivalsComponents
  /** The one with the greatest number, by name. */
  readonly #rivals = new BoundedMap<string, Rival>(MAX_SEEN_LEASES)

  constructor(components: LeaseRivalsComponents) {
    this.#components = components
  }

  /** A number from the future is nobody's: it would be the last one. */
  heard(name: string, owner: string, valueText: string): void {
    const { clock } = this.#components
    const lease = readLease(valueText)
    if (lease?.holder !== owner || lease.number > (clock.now() + MAX_FUTURE_MS) * 1_000) return
    const known = this.#rivals.get(name)
    if (known !== undefined && known.holder !== owner && known.number > lease.number) return
    this.#rivals.set(name, { ...lease, heardAt: clock.monotonic() })
  }

  /** The member gave its claim up, or its claim is the one that is held now. */
  over(name: string, owner: string): void {
    if (this.#rivals.get(name)?.holder === owner) this.#rivals.delete(name)
  }

  /** True when another member claims the lease with a greater number than this. */
  hasOver(name: string, number: number): boolean {
    const rival = this.#rivals.get(name)
    if (rival === undefined || this.leftMs(name) === 0) return false
    return rival.number > number || (rival.number === number && rival.holder > this.#components.ledger.self)
  }

  /** How long the lease may be a rival's yet, in ms. */
  leftMs(name: string): number {
    const rival = this.#rivals.get(name)
    if (rival === undefined) return 0
    const leftMs = rival.heardAt + rival.ttlMs + LEASE_GRACE_MS - this.#components.clock.monotonic()
    return Math.max(0, leftMs)
  }
}

/** A lease that this node holds: renewed in time, and lost as soon as that is not certain any more. */
import type { Clock } from '@mesh/core'
import { BUCKETS, MeshError } from '@mesh/core'
import type { Ledger, LedgerEvent } from '../ledger.ts'
import { leaseText } from './lease-entry.ts'

/** A lease that is held. */
export interface Lease {
  readonly name: string
  /** The fencing number, counted up with each holder: greater than that of every holder before, as far as this node knows. */
  readonly number: number
  /** Aborts when the lease is given back or lost; the reason says which. */
  readonly signal: AbortSignal
  /** Extends the lease by its TTL from now. @throws MeshError `lease.lost` when it is not held any more */
  renew(): void
  /** Gives the lease back: another member may take it at once. Resolves when that is written. Idempotent. */
  release(): Promise<void>
}

export interface HeldLeaseInit {
  readonly name: string
  readonly number: number
  readonly ttlMs: number
  /** True: this node renews it until it is given back. False: its user does, or it ends. */
  readonly renews: boolean
  /** How often the claim was said. */
  readonly renewals: number
  /** When the claim was written, in monotonic ms. */
  readonly claimedAt: number
  readonly onEnd: () => void
}

interface HeldLeaseComponents {
  readonly ledger: Pick<Ledger, 'self' | 'put' | 'delete' | 'subscribe'>
  readonly clock: Clock
}

/** Renewals in one TTL: two may be lost. */
const RENEWALS_IN_TTL = 3

export class HeldLease implements Lease {
  readonly #init: HeldLeaseInit
  readonly #components: HeldLeaseComponents
  readonly #ended = new AbortController()
  readonly #unsubscribe: () => void
  #renewals: number
  #validUntil: number
  #cancel = () => {}
  #written: Promise<unknown> = Promise.resolve()

  constructor(init: HeldLeaseInit, components: HeldLeaseComponents) {
    this.#init = init
    this.#renewals = init.renewals
    this.#components = components
    this.#validUntil = init.claimedAt + init.ttlMs
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
    this.#wait()
  }

  get name(): string {
    return this.#init.name
  }

  get number(): number {
    return this.#init.number
  }

  get ttlMs(): number {
    return this.#init.ttlMs
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  renew(): void {
    const { ledger, clock } = this.#components
    if (clock.monotonic() >= this.#validUntil) this.#lose('it was not renewed in time')
    if (this.signal.aborted) throw this.signal.reason
    const { name, number, ttlMs } = this.#init
    try {
      void ledger.put(
        BUCKETS.leases,
        name,
        leaseText({ holder: ledger.self, number, ttlMs }, ++this.#renewals),
      ).settled
    } catch (error) {
      this.#lose('another member holds it', error)
      throw this.signal.reason
    }
    this.#validUntil = clock.monotonic() + ttlMs
    this.#wait()
  }

  async release(): Promise<void> {
    this.#end(new MeshError('lease.released', `the lease ${this.name} was given back`), true)
    await this.#written
  }

  #wait(): void {
    const { ttlMs, renews } = this.#init
    this.#cancel()
    const delayMs = renews ? ttlMs / RENEWALS_IN_TTL : this.#validUntil - this.#components.clock.monotonic()
    this.#cancel = this.#components.clock.after(delayMs, () => {
      if (!renews) return this.#lose('it was not renewed in time')
      try {
        this.renew()
      } catch {
        // the signal says so
      }
    })
  }

  #hear(event: LedgerEvent): void {
    const { self } = this.#components.ledger
    if (event.type === 'committed') {
      const isTaken = event.changes.some(
        ({ bucket, key, entry }) => this.#isMine(bucket, key) && (entry.deleted || entry.owner !== self),
      )
      if (isTaken) this.#end(lost(this.name, 'another member holds it'), false)
    }
  }

  #isMine(bucket: string, key: string): boolean {
    return bucket === BUCKETS.leases && key === this.name
  }

  /** Another member held it during a partition, with a greater number. */
  yield(): void {
    this.#lose('another member took it during a partition, with a greater number')
  }

  #lose(why: string, cause?: unknown): void {
    this.#end(lost(this.name, why, cause), true)
  }

  #end(reason: MeshError, isDeleted: boolean): void {
    if (this.signal.aborted) return
    this.#cancel()
    this.#unsubscribe()
    this.#ended.abort(reason)
    if (isDeleted) this.#written = this.#delete()
    this.#init.onEnd()
  }

  async #delete(): Promise<void> {
    try {
      await this.#components.ledger.delete(BUCKETS.leases, this.name).settled
    } catch {
      // another member's by now
    }
  }
}

function lost(name: string, why: string, cause?: unknown): MeshError {
  return new MeshError('lease.lost', `the lease ${name} was lost: ${why}`, {
    hint: 'Stop what it allows, and take it again.',
    ...(cause !== undefined && { cause }),
  })
}

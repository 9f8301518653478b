/**
 * Among members that reach each other a lease has one holder at a time; in a partition each side may have a holder of its own
 * until the sides meet again, and only what checks the fencing number (a store that refuses a smaller number than it has seen)
 * can tell the two apart.
 *
 * 1. To take a lease: wait until its key is free, or nothing was heard of its holder for the TTL and a little more.
 * 2. Claim the key with a number above all that were seen, and wait whether another member claims it too.
 * 3. Renew it three times in each TTL; what cannot be renewed in time is lost.
 *
 * Times are measured by each member's monotonic clock. The ledger's ownership, by the wall clock, keeps others from taking
 * what is held.
 */
import { BoundedMap, BUCKETS, type Clock, delay, MeshError, type Random } from '@mesh/core'
import type { Ledger, LedgerEvent } from '../ledger.ts'
import {
  LEASE_CLAIM_MS,
  LEASE_CLAIMS,
  LEASE_GRACE_MS,
  LEASE_LOOK_MS,
  LEAST_LEASE_MS,
  MAX_HELD_LEASES,
  MAX_FUTURE_MS,
  MAX_SEEN_LEASES,
  MOST_LEASE_MS,
} from '../limits.ts'
import { HeldLease, type Lease } from './held-lease.ts'
import { leaseText, readLease } from './lease-entry.ts'
import { LeaseRivals } from './lease-rivals.ts'

export interface TakeLease {
  /** A key of the bucket `leases`: 1 to 200 characters. */
  readonly name: string
  /** How long the lease lasts after each renewal, in ms: from 5 s to 1 h. */
  readonly ttlMs: number
  /** True, as by default: this node renews the lease until it is given back. False: its user does, by `renew`. */
  readonly renews?: boolean
  /** Ends the wait when it aborts. */
  readonly signal: AbortSignal
}

/** A lease as this node sees it. */
export interface LeaseStatus {
  readonly name: string
  readonly holder: string
  readonly number: number
  readonly ttlMs: number
}

export interface LeasesComponents {
  readonly ledger: Pick<Ledger, 'self' | 'mode' | 'snapshot' | 'put' | 'delete' | 'subscribe'>
  readonly clock: Clock
  readonly random: Random
  /** How long a claim waits for those of other members, in ms; `LEASE_CLAIM_MS` by default. */
  readonly claimMs?: number
}

/** A lease that was heard of. */
interface Seen {
  /** When its entry changed last, in monotonic ms. */
  readonly heardAt: number
  /** The greatest number that was seen, of refused claims too. */
  readonly number: number
}

export function createLeases(components: LeasesComponents): Leases {
  return new Leases(components)
}

export class Leases {
  readonly #components: LeasesComponents
  readonly #rivals: LeaseRivals
  readonly #seen = new BoundedMap<string, Seen>(MAX_SEEN_LEASES)
  readonly #held = new Map<string, HeldLease>()
  readonly #claiming = new Set<string>()
  readonly #stopping = new AbortController()
  readonly #startedAt: number
  readonly #unsubscribe: () => void

  constructor(components: LeasesComponents) {
    this.#components = components
    this.#startedAt = components.clock.monotonic()
    this.#rivals = new LeaseRivals(components)
    this.#unsubscribe = components.ledger.subscribe((event) => {
      if (event.type === 'committed') {
        for (const { bucket, key, entry } of event.changes) {
          if (bucket !== BUCKETS.leases) continue
          this.#see(key, entry.value, true)
          this.#rivals.over(key, entry.owner)
        }
      } else if (event.type === 'rejected' && event.bucket === BUCKETS.leases) this.#heardRival(event)
    })
  }

  /**
   * Waits until the lease is this node's.
   * @throws MeshError `lease.bad_name`, `lease.bad_ttl`, `lease.too_many`, `lease.held` when this node holds it already,
   *   `lease.no_ownership`; the signal's reason
   */
  async take(init: TakeLease): Promise<Lease> {
    const { name } = init
    this.#check(init)
    this.#claiming.add(name)
    const signal = AbortSignal.any([init.signal, this.#stopping.signal])
    try {
      for (;;) {
        signal.throwIfAborted()
        const waitMs = this.#blockedMs(name)
        if (waitMs === 0) {
          const lease = await this.#claim(init, signal)
          if (lease !== undefined) return lease
        }
        const { clock, random } = this.#components
        await delay(
          clock,
          Math.min(LEASE_LOOK_MS, Math.max(waitMs, LEASE_LOOK_MS / 4)) * (0.5 + random.float() / 2),
          signal,
        )
      }
    } finally {
      this.#claiming.delete(name)
    }
  }

  /** The lease of that name that this node holds. */
  held(name: string): Lease | undefined {
    return this.#held.get(name)
  }

  /** The lease as this node sees it now; undefined: nobody holds it. */
  status(name: string): LeaseStatus | undefined {
    const entry = this.#components.ledger.snapshot().getLive(BUCKETS.leases, name)
    const lease = entry && readLease(entry.value)
    if (lease === undefined || this.#isOver(name, lease)) return undefined
    return { name, ...lease }
  }

  /** All leases that somebody holds, as this node sees them; a bounded number. */
  list(): readonly LeaseStatus[] {
    const found: LeaseStatus[] = []
    for (const { key, entry } of this.#components.ledger.snapshot().entries(BUCKETS.leases)) {
      const status = entry.deleted ? undefined : this.status(key)
      if (status !== undefined && found.push(status) >= MAX_SEEN_LEASES) break
    }
    return found
  }

  /** Gives back what this node holds. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort(new MeshError('lease.released', 'this node stops'))
    this.#unsubscribe()
    await Promise.all([...this.#held.values()].map((lease) => lease.release()))
  }

  #check({ name, ttlMs }: TakeLease): void {
    this.#stopping.signal.throwIfAborted()
    if (name === '' || name.length > MAX_NAME_LENGTH || !name.isWellFormed())
      throw refuse('lease.bad_name', `a lease's name has 1 to ${MAX_NAME_LENGTH} characters`)
    if (!(ttlMs >= LEAST_LEASE_MS && ttlMs <= MOST_LEASE_MS))
      throw refuse(
        'lease.bad_ttl',
        `a lease lasts from ${LEAST_LEASE_MS / 1000} s to ${MOST_LEASE_MS / 1000} s`,
      )
    if (this.#components.ledger.mode !== 'enforce')
      throw refuse(
        'lease.no_ownership',
        'leases need a network that enforces ownership (--ownership enforce)',
      )
    if (this.#held.has(name) || this.#claiming.has(name))
      throw refuse('lease.held', `this node holds the lease ${name} already, or waits for it`)
    if (this.#held.size + this.#claiming.size >= MAX_HELD_LEASES)
      throw refuse('lease.too_many', `more than ${MAX_HELD_LEASES} leases are held`)
  }

  /** The time until the lease may be claimed, in ms; 0: now. */
  #blockedMs(name: string): number {
    const { ledger } = this.#components
    const entry = ledger.snapshot().getLive(BUCKETS.leases, name)
    if (entry === undefined || entry.owner === ledger.self) return this.#rivals.leftMs(name)
    const lease = readLease(entry.value)
    return Math.max(this.#leftMs(name, lease?.ttlMs ?? LEAST_LEASE_MS), this.#rivals.leftMs(name))
  }

  /** The time after which a silent holder has lost the lease for this node, in ms. */
  #leftMs(name: string, ttlMs: number): number {
    const heardAt = this.#seen.get(name)?.heardAt ?? this.#startedAt
    return Math.max(0, heardAt + ttlMs + LEASE_GRACE_MS - this.#components.clock.monotonic())
  }

  #isOver(name: string, { holder, ttlMs }: Pick<LeaseStatus, 'holder' | 'ttlMs'>): boolean {
    if (holder === this.#components.ledger.self) return !this.#held.has(name)
    return this.#leftMs(name, ttlMs) === 0
  }

  /** Undefined: another member was first, or the ledger does not take the claim yet. */
  async #claim({ name, ttlMs, renews = true }: TakeLease, signal: AbortSignal): Promise<Lease | undefined> {
    const { ledger, clock, claimMs = LEASE_CLAIM_MS } = this.#components
    const number = this.#nextNumber(name)
    const holder = ledger.self
    const isOurs = () => {
      const entry = ledger.snapshot().getLive(BUCKETS.leases, name)
      return entry?.owner === holder && readLease(entry.value)?.number === number
    }
    let isTaken = false
    let claimedAt = clock.monotonic()
    try {
      // said again, as a message may be lost
      for (let times = 0; times < LEASE_CLAIMS && (times === 0 || isOurs()); times++) {
        await ledger.put(BUCKETS.leases, name, leaseText({ holder, number, ttlMs }, times)).settled
        if (times === 0) claimedAt = clock.monotonic()
        await delay(clock, claimMs / LEASE_CLAIMS, signal)
      }
      isTaken = isOurs() && !this.#rivals.hasOver(name, number)
    } catch (error) {
      // another member's after all
      if (signal.aborted) throw error
    } finally {
      if (!isTaken && isOurs()) ledger.delete(BUCKETS.leases, name)
    }
    if (!isTaken) return undefined
    const onEnd = () => void this.#held.delete(name)
    const init = { name, number, ttlMs, renews, renewals: LEASE_CLAIMS, claimedAt, onEnd }
    const lease = new HeldLease(init, { ledger, clock })
    this.#held.set(name, lease)
    return lease
  }

  /** Another member's claim of what is held here: in a race one of both gives way; after a partition the lesser number does. */
  #heardRival({ key, owner, value, code }: Extract<LedgerEvent, { readonly type: 'rejected' }>): void {
    this.#see(key, value, false)
    if (value === '') return this.#rivals.over(key, owner)
    if (code !== 'NOT_OWNER') return
    this.#rivals.heard(key, owner, value)
    const held = this.#held.get(key)
    if (held === undefined || !this.#rivals.hasOver(key, held.number)) return
    this.#components.clock.after(LEASE_CLAIM_MS, () => {
      if (this.#rivals.hasOver(key, held.number)) held.yield()
    })
  }

  /** Microseconds of the wall clock, so that two sides of a partition hardly draw the same; above all that were seen. */
  #nextNumber(name: string): number {
    const { ledger, clock, random } = this.#components
    const stored = ledger.snapshot().get(BUCKETS.leases, name)?.version ?? 0n
    const now = Math.floor(clock.now()) * 1_000 + Math.floor(random.float() * 1_000)
    return Math.max(now, Number(stored / 1_000n) + 1, (this.#seen.get(name)?.number ?? 0) + 1)
  }

  /** A number from the future is nobody's: it would be the last one. */
  #see(name: string, valueText: string, isHeard: boolean): void {
    const { clock } = this.#components
    const { number = 0 } = readLease(valueText) ?? {}
    const before = this.#seen.get(name)
    const isSound = number <= (clock.now() + MAX_FUTURE_MS) * 1_000
    const heardAt = isHeard ? clock.monotonic() : (before?.heardAt ?? this.#startedAt)
    this.#seen.set(name, { heardAt, number: Math.max(before?.number ?? 0, isSound ? number : 0) })
  }
}

const MAX_NAME_LENGTH = 200

function refuse(code: string, message: string): MeshError {
  return new MeshError(code, message)
}

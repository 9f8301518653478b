/**
 * How much the ledger and each signer may hold. One room is for the buckets that say who is present (`healthcheck`,
 * `machines`, `users`, `dhcp`), another for everything else. In a full room the entries of the largest signer go first
 * (`eviction-queue.ts`). In a range whose addresses are claimed, those of the signer with the most go
 * (`address-shares.ts`). The node keeps its own entries, except tombstones beyond its share of the first room.
 */
import { BUCKETS } from '@mesh/core'
import { utf8Length } from '../entries/utf8-length.ts'
import type { KeyedEntry } from '../entries/entry.ts'
import {
  ENTRY_OVERHEAD_BYTES,
  type LedgerLimits,
  MAX_BUCKET_BYTES,
  MAX_KEY_BYTES,
  MAX_OWNER_BYTES,
  MAX_VALUE_BYTES,
  MAX_VITAL_SIGNER_BYTES,
  MAX_VITAL_SIGNER_ENTRIES,
  VITAL_ONE_IN,
} from '../limits.ts'
import { AddressShares } from './address-shares.ts'
import { EvictionQueue } from './eviction-queue.ts'

const MAX_ENTRY_COST =
  MAX_BUCKET_BYTES + MAX_KEY_BYTES + MAX_VALUE_BYTES + MAX_OWNER_BYTES + ENTRY_OVERHEAD_BYTES

const VITAL: ReadonlySet<string> = new Set([
  BUCKETS.healthcheck,
  BUCKETS.machines,
  BUCKETS.users,
  BUCKETS.dhcp,
])

interface Usage {
  entries: number
  bytes: number
}

export interface QuotaInit {
  readonly limits: LedgerLimits
  /** Has nobody a hold on the keys of this bucket? */
  readonly isOpen: (bucket: string) => boolean
  /** This node, whose own entries never go for others'. */
  readonly self: string
}

/** A room, or a range of addresses, in which more is held than its bounds allow. */
interface Excess {
  /** The entry that goes first, of those that are still held; undefined when none may go. */
  first(): KeyedEntry | undefined
}

export function createQuota(init: QuotaInit) {
  const { limits } = init
  const vital: Usage = {
    entries: Math.ceil(limits.maxEntries / VITAL_ONE_IN),
    bytes: Math.ceil(limits.maxBytes / VITAL_ONE_IN),
  }
  const other: Usage = { entries: limits.maxEntries - vital.entries, bytes: limits.maxBytes - vital.bytes }
  const unsigned: Usage = { entries: limits.maxUnsignedEntries, bytes: limits.maxUnsignedBytes }
  const signer: Usage = { entries: limits.maxSignerEntries, bytes: limits.maxSignerBytes }
  const vitalSigner: Usage = { entries: MAX_VITAL_SIGNER_ENTRIES, bytes: MAX_VITAL_SIGNER_BYTES }
  const vitalRoom = new Room({ ...init, most: vital, signer: vitalSigner, unsigned, endedFirst: true })
  const otherRoom = new Room({ ...init, most: other, signer, unsigned, endedFirst: false })
  const roomOf = (row: KeyedEntry) => (isVital(row) ? vitalRoom : otherRoom)
  const addresses = new AddressShares()
  const addressExcess = (row: KeyedEntry): Excess | undefined => {
    const excess = addresses.excessAfter(row, init.self)
    return excess === undefined ? undefined : { first: () => excess.first }
  }
  return {
    /** Is there room for `next` in the place of `before`, so that nothing has to go for its size? */
    admits: (next: KeyedEntry, before: KeyedEntry | undefined) => roomOf(next).admits(next, before),
    /** Gives what has to go after this row was stored; undefined when all fits. */
    excessAfter: (row: KeyedEntry) => roomOf(row).excessAfter(row) ?? addressExcess(row),
    count(row: KeyedEntry) {
      roomOf(row).change(row, 1)
      addresses.count(row)
    },
    uncount(row: KeyedEntry) {
      roomOf(row).change(row, -1)
      addresses.uncount(row)
    },
  }
}

export type Quota = ReturnType<typeof createQuota>

interface RoomInit extends QuotaInit {
  readonly most: Usage
  readonly signer: Usage
  readonly unsigned: Usage
  /** Does a signer's tombstone go before what it holds? */
  readonly endedFirst: boolean
}

class Room {
  readonly #init: RoomInit
  readonly #total: Usage = { entries: 0, bytes: 0 }
  readonly #owners = new Map<string, Usage>()
  readonly #queue: EvictionQueue

  constructor(init: RoomInit) {
    this.#init = init
    const { isOpen, endedFirst } = init
    this.#queue = new EvictionQueue({ isOpen, endedFirst, shareOf: (owner) => this.#shareOf(owner) })
  }

  change(row: KeyedEntry, by: 1 | -1): void {
    const bytes = by * costOf(row)
    const { owner } = row.entry
    const usage = this.#usageOf(owner)
    for (const counted of [this.#total, usage]) {
      counted.entries += by
      counted.bytes += bytes
    }
    if (usage.entries === 0) this.#owners.delete(owner)
    else this.#owners.set(owner, usage)
    if (by === 1) this.#queue.added(row)
    else this.#queue.removed(row)
  }

  admits(next: KeyedEntry, before: KeyedEntry | undefined): boolean {
    const { owner } = next.entry
    const usage = this.#usageOf(owner)
    if (this.#hasAmpleRoom(usage, owner)) return true
    const entries = before === undefined ? 1 : 0
    const bytes = costOf(next) - (before === undefined ? 0 : costOf(before))
    if (exceeds(this.#total, { entries, bytes }, this.#init.most)) return false
    const own = before !== undefined && before.entry.owner === owner
    const more = own ? { entries: 0, bytes } : { entries: 1, bytes: costOf(next) }
    return !exceeds(usage, more, this.#mostOf(owner))
  }

  excessAfter(row: KeyedEntry): Excess | undefined {
    const { self, most } = this.#init
    const { owner } = row.entry
    if (isOver(this.#usageOf(owner), this.#mostOf(owner))) {
      return { first: () => (owner === self ? this.#firstOwn() : this.#queue.first(owner)) }
    }
    if (!isOver(this.#total, most)) return undefined
    const largest = this.#queue.largest(self)
    return { first: () => (largest === undefined ? undefined : this.#queue.first(largest)) }
  }

  /** Others remember what went as they remember a tombstone that was collected, and let the same one go. */
  #firstOwn(): KeyedEntry | undefined {
    const first = this.#init.endedFirst ? this.#queue.first(this.#init.self) : undefined
    return first?.entry.deleted === true ? first : undefined
  }

  #shareOf(owner: string): number {
    const { most } = this.#init
    const { entries, bytes } = this.#usageOf(owner)
    return Math.max(entries / most.entries, bytes / most.bytes)
  }

  #usageOf(owner: string): Usage {
    return this.#owners.get(owner) ?? { entries: 0, bytes: 0 }
  }

  #mostOf(owner: string): Usage {
    return owner === '' ? this.#init.unsigned : this.#init.signer
  }

  /** Far from every limit nothing has to be counted. */
  #hasAmpleRoom(used: Usage, owner: string): boolean {
    const { most, signer } = this.#init
    return (
      owner !== '' &&
      this.#total.entries < most.entries &&
      this.#total.bytes + MAX_ENTRY_COST <= most.bytes &&
      used.entries < signer.entries &&
      used.bytes + MAX_ENTRY_COST <= signer.bytes
    )
  }
}

function isVital({ bucket }: KeyedEntry): boolean {
  return VITAL.has(bucket)
}

/** True for what makes a full room no fuller, which is always let in. */
function exceeds(usage: Usage, more: Usage, most: Usage): boolean {
  if (more.entries <= 0 && more.bytes <= 0) return false
  return usage.entries + more.entries > most.entries || usage.bytes + more.bytes > most.bytes
}

function isOver(usage: Usage, most: Usage): boolean {
  return usage.entries > most.entries || usage.bytes > most.bytes
}

function costOf({ bucket, key, entry }: KeyedEntry): number {
  return (
    utf8Length(bucket) + utf8Length(key) + utf8Length(entry.value) + entry.owner.length + ENTRY_OVERHEAD_BYTES
  )
}

/**
 * Which IPv4 addresses other members had in the last 30 days, kept over restarts: a lease takes none of them, so that
 * a machine that was away finds its address free, and nobody who has it written down reaches another machine.
 */
import {
  BUCKETS,
  type Cidr,
  cidrContains,
  type Clock,
  type IpAddress,
  type Logger,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import type { Entry, LedgerEvent } from '@mesh/ledger'
import type { VpnLedger } from '../ports.ts'
import { holderOf } from './machines-bucket.ts'
import { isIpv4 } from './ip-math.ts'
import type { LeaseStore } from './lease-store.ts'
import {
  LASTING_ADDRESS_MS,
  MAX_PAST_ADDRESSES,
  MAX_PAST_ADDRESSES_PER_PEER,
  PAST_ADDRESS_MS,
  SAVE_PAST_INTERVAL_MS,
  SAVE_PAST_SOON_MS,
} from './limits.ts'

export interface PastAddresses {
  /** The addresses that another member has, or had within the last 30 days. */
  ofOthers(): readonly IpAddress[]
  /** Those of them that it had for a day at least: where no other address is free, a lease takes one of the rest. */
  lasting(): readonly IpAddress[]
  /** Saves what is remembered, and listens no more. */
  stop(): void
}

interface PastAddressesComponents {
  /** The range in which addresses are leased: no others are remembered. */
  readonly range: Cidr
  readonly ledger: Pick<VpnLedger, 'self' | 'snapshot' | 'subscribe'>
  readonly store: LeaseStore
  readonly clock: Clock
  readonly log: Logger
}

export function rememberAddresses(components: PastAddressesComponents): PastAddresses {
  return new AddressMemory(components)
}

interface Past {
  readonly peer: string
  /** When the address was seen with the peer last, in Unix ms. */
  readonly at: number
  /** When it was seen with it first, in Unix ms. */
  readonly since: number
}

class AddressMemory implements PastAddresses {
  readonly #components: PastAddressesComponents
  /** Who had which address; the one seen longest ago comes first. */
  readonly #past = new Map<IpAddress, Past>()
  /** The same by who had them: to look through all for each address of one took a minute with a thousand keys. */
  readonly #byPeer = new Map<string, Set<IpAddress>>()
  readonly #unsubscribe: () => void
  #cancel = () => {}
  /** When the memory is saved next, in Unix ms. */
  #saveAt = Number.POSITIVE_INFINITY
  #stopped = false

  constructor(components: PastAddressesComponents) {
    this.#components = components
    this.#load()
    this.#lookThrough()
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
    this.#saveBy(SAVE_PAST_SOON_MS)
  }

  ofOthers(): readonly IpAddress[] {
    return this.#addresses(() => true)
  }

  lasting(): readonly IpAddress[] {
    return this.#addresses(({ at, since }) => at - since >= LASTING_ADDRESS_MS)
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
    this.#lookAgain()
    this.#save()
  }

  #addresses(isMeant: (past: Past) => boolean): readonly IpAddress[] {
    const oldest = this.#components.clock.now() - PAST_ADDRESS_MS
    return [...this.#past].flatMap(([address, past]) => (past.at > oldest && isMeant(past) ? [address] : []))
  }

  #hear(event: LedgerEvent): void {
    if (event.type !== 'committed') return
    for (const { bucket, key, entry, previous } of event.changes) {
      if (bucket !== BUCKETS.machines) continue
      const isNew = this.#note(key, entry.deleted ? previous : entry)
      if (isNew) this.#saveBy(SAVE_PAST_SOON_MS)
    }
  }

  #lookThrough(): void {
    for (const { key, entry } of this.#components.ledger.snapshot().entries(BUCKETS.machines)) {
      this.#note(key, entry)
    }
  }

  /** Notes of what is remembered that it is still so. */
  #lookAgain(): void {
    const { ledger } = this.#components
    const snapshot = ledger.snapshot()
    // each goes to the end
    const remembered = [...this.#past.keys()]
    for (const address of remembered) this.#note(address, snapshot.getLive(BUCKETS.machines, address))
  }

  /** Remembers what an entry says. True when the memory says something else now. */
  #note(key: string, entry: Entry | undefined): boolean {
    const { ledger, clock, range } = this.#components
    const address = tryParseIp(key)
    if (entry === undefined || entry.deleted || address === undefined) return false
    if (!isIpv4(address) || !cidrContains(range, address)) return false
    const peer = holderOf(key, entry)
    const known = this.#past.get(address)
    this.#forget(address)
    // What is this node's own now was never another's as far as its leases go.
    if (peer === ledger.self || peer === '') return known !== undefined
    const now = clock.now()
    const since = known?.peer === peer ? Math.min(known.since, now) : now
    this.#remember(address, { peer, at: now, since })
    if (known?.peer === peer) return false
    this.#forgetFurther(peer)
    return true
  }

  #remember(address: IpAddress, past: Past): void {
    this.#past.set(address, past)
    const known = this.#byPeer.get(past.peer)
    if (known === undefined) this.#byPeer.set(past.peer, new Set([address]))
    else known.add(address)
  }

  #forget(address: IpAddress): void {
    const past = this.#past.get(address)
    if (past === undefined) return
    this.#past.delete(address)
    const others = this.#byPeer.get(past.peer)
    others?.delete(address)
    if (others?.size === 0) this.#byPeer.delete(past.peer)
  }

  /** Forgets what is beyond the bounds of one peer and of all, so that nobody fills the memory. */
  #forgetFurther(peer: string): void {
    const ofPeer = this.#byPeer.get(peer) ?? []
    for (const address of ofPeer) {
      if ((this.#byPeer.get(peer)?.size ?? 0) <= MAX_PAST_ADDRESSES_PER_PEER) break
      this.#forget(address)
    }
    for (const oldest of this.#past.keys()) {
      if (this.#past.size <= MAX_PAST_ADDRESSES) return
      this.#forget(oldest)
    }
  }

  #load(): void {
    const { store, clock, log } = this.#components
    const text = store.read()
    if (text === undefined || text.trim() === '') return
    const found = parsePast(text)
    if (found === undefined) {
      log.warn('remembered addresses of others dropped: the file is damaged', {})
      return
    }
    const now = clock.now()
    for (const [address, { peer, at, since }] of found.slice(-MAX_PAST_ADDRESSES)) {
      // A clock that was ahead must not lengthen the memory.
      if (at > now - PAST_ADDRESS_MS) this.#remember(address, { peer, at: Math.min(at, now), since })
    }
  }

  #save(): void {
    const { store, clock } = this.#components
    const since = clock.now() - PAST_ADDRESS_MS
    for (const [address, { at }] of this.#past) if (at <= since) this.#forget(address)
    store.write(`${JSON.stringify(Object.fromEntries(this.#past))}\n`)
  }

  #saveBy(delayMs: number): void {
    const { clock } = this.#components
    const at = clock.monotonic() + delayMs
    if (this.#stopped || at >= this.#saveAt) return
    this.#cancel()
    this.#saveAt = at
    this.#cancel = clock.after(delayMs, () => {
      this.#saveAt = Number.POSITIVE_INFINITY
      // soon after a change nobody has been there for much longer
      if (delayMs === SAVE_PAST_INTERVAL_MS) this.#lookAgain()
      this.#save()
      this.#saveBy(SAVE_PAST_INTERVAL_MS)
    })
  }
}

/** Stands for 'since when' in a file that does not tell it: what the file keeps stays kept. */
const LONG_AGO = 0

/** Who had which address, in the order in which they were seen; undefined when the text is no such file. */
function parsePast(text: string): readonly (readonly [IpAddress, Past])[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return undefined
    const found = Object.entries(parsed).flatMap(([key, value]) => {
      const address = tryParseIp(key)
      const { peer, at, since = LONG_AGO } = value as Partial<Past>
      const isRight = typeof peer === 'string' && tryParsePeerId(peer) !== undefined && typeof at === 'number'
      return address !== undefined && isRight && typeof since === 'number'
        ? [[address, { peer, at, since }] as const]
        : []
    })
    return found.toSorted(([, a], [, b]) => a.at - b.at)
  } catch {
    return undefined
  }
}

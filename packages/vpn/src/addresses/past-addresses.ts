/**
 * Remembers which IPv4 addresses other members had in the last 30 days, over restarts. A lease takes none of them. So a machine
 * that was away finds its address free, and old references do not reach another machine.
 */
import { BUCKETS, type Cidr, type IpAddress, tryParseIp, tryParsePeerId } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { Entry, LedgerEvent } from '@mesh/ledger'
import type { VpnLedger } from '../ports.ts'
import { covers, type Prefix, prefixOf } from './prefix.ts'
import { readAddress } from './read-entry.ts'
import { holderOf } from './machines-bucket.ts'
import type { LeaseStore, VpnComponents } from '../vpn.ts'
import { STEP_ENTRIES } from '../limits.ts'
import {
  LASTING_ADDRESS_MS,
  MAX_PAST_ADDRESSES,
  MAX_PAST_ADDRESSES_PER_PEER,
  PAST_ADDRESS_MS,
  SAVE_PAST_INTERVAL_MS,
  SAVE_PAST_SOON_MS,
} from './limits.ts'

interface PastAddressesComponents extends Pick<VpnComponents, 'clock' | 'log'> {
  /** The range in which addresses are leased: no others are remembered. */
  readonly range: Cidr
  readonly ledger: Pick<VpnLedger, 'self' | 'snapshot' | 'subscribe'>
  readonly store: LeaseStore
}

interface Past {
  readonly peer: string
  /** When the address was seen with the peer last, in Unix ms. */
  readonly at: number
  /** When it was seen with it first, in Unix ms. */
  readonly since: number
}

export class PastAddresses {
  readonly #components: PastAddressesComponents
  readonly #range: Prefix
  /** Who had which address; the one seen longest ago comes first. */
  readonly #past = new Map<IpAddress, Past>()
  /** The same by who had them: to look through all for each address of one took a minute with a thousand keys. */
  readonly #byPeer = new Map<string, Set<IpAddress>>()
  readonly #unsubscribe: () => void
  /** Resolves when what the ledger says at the start is remembered: it may tell of tens of thousands of machines. */
  readonly ready: Promise<void>
  #endLook = () => {}
  #cancel = () => {}
  /** When the memory is saved next, in Unix ms. */
  #saveAt = Number.POSITIVE_INFINITY
  #stopped = false

  constructor(components: PastAddressesComponents) {
    this.#components = components
    this.#range = prefixOf(components.range)
    this.#load()
    this.ready = new Promise((resolve) => {
      this.#endLook = loopBudget(components.clock).walk('background', this.#lookThrough(), resolve)
    })
    this.#unsubscribe = components.ledger.subscribe((event) => this.#hear(event))
    this.#saveBy(SAVE_PAST_SOON_MS)
  }

  /** The addresses that another member has, or had within the last 30 days. */
  ofOthers(): readonly IpAddress[] {
    return this.#addresses(() => true)
  }

  /** Those of them that it had for a day at least: where no other address is free, a lease takes one of the rest. */
  lasting(): readonly IpAddress[] {
    return this.#addresses(({ at, since }) => at - since >= LASTING_ADDRESS_MS)
  }

  /** Saves what is remembered, and listens no more. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#unsubscribe()
    this.#cancel()
    this.#endLook()
    this.#components.store.write(this.#write(true))
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

  *#lookThrough(): Generator<void, void> {
    const { ledger } = this.#components
    let seen = 0
    for (const { key } of ledger.snapshot().entries(BUCKETS.machines)) {
      if (++seen % STEP_ENTRIES === 0) yield
      // it may have changed meanwhile
      this.#note(key, ledger.snapshot().getLive(BUCKETS.machines, key))
    }
  }

  /** Gives the text that is saved. @param looksAgain notes first, of what is remembered, that it is still so */
  #write(looksAgain: boolean): string {
    const { ledger, clock } = this.#components
    const since = clock.now() - PAST_ADDRESS_MS
    // each goes to the end
    for (const [address, { at }] of Array.from(this.#past)) {
      if (looksAgain) this.#note(address, ledger.snapshot().getLive(BUCKETS.machines, address))
      if (at <= since && this.#past.get(address)?.at === at) this.#forget(address)
    }
    return `${JSON.stringify(Object.fromEntries(this.#past))}\n`
  }

  /** Remembers what an entry says. True when the memory says something else now. */
  #note(key: string, entry: Entry | undefined): boolean {
    const { ledger, clock } = this.#components
    const read = entry === undefined || entry.deleted ? 'badKey' : readAddress(key, entry)
    if (entry === undefined || typeof read === 'string' || !covers(this.#range, read.prefix)) return false
    const { address } = read
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
    // a walk passes over all that was forgotten before
    if (this.#past.size <= MAX_PAST_ADDRESSES) return
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

  #saveBy(delayMs: number): void {
    const { clock } = this.#components
    const at = clock.monotonic() + delayMs
    if (this.#stopped || at >= this.#saveAt) return
    this.#cancel()
    this.#saveAt = at
    this.#cancel = clock.after(delayMs, () => {
      this.#saveAt = Number.POSITIVE_INFINITY
      // soon after a change nobody has been there for much longer
      this.#components.store.write(this.#write(delayMs === SAVE_PAST_INTERVAL_MS))
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

/**
 * The machines with a readable record, kept equal to the ledger. A change costs only what it changes. Many changes are read over several
 * turns of the event loop: there may be tens of thousands of machines.
 */
import { BUCKETS, type MachineRecord, machineRecord } from '@mesh/core'
import type { LoopBudget } from '@mesh/core/limits'
import type { Entry, Ledger } from '@mesh/ledger'
import { STEP_MACHINES } from '../limits.ts'
import { tryParseJson } from './json-text.ts'
import { inOrder } from './page.ts'

/** A machine with all that it has in the bucket `machines`. */
export interface Machine {
  /** The record of its first address, with that as `Address`. */
  readonly record: MachineRecord
  /** The machine's addresses, at least one: IPv4 first, each kind in the order of its text. */
  readonly addresses: readonly string[]
  /** Which of its addresses has the first text: lists of machines are in this order. */
  readonly firstKey: string
}

export class MachineList {
  readonly #ledger: Pick<Ledger, 'snapshot'>
  readonly #budget: LoopBudget
  readonly #unsubscribe: () => void
  /** The records of entries, by key. */
  readonly #records = new Map<string, MachineRecord>()
  /** The keys of each peer's entries. */
  readonly #keys = new Map<string, Set<string>>()
  readonly #machines = new Map<string, Machine>()
  /** Keys whose entries have changed since they were read. */
  readonly #changed = new Set<string>()
  /** Peers of which a record has changed since their machine was made. */
  readonly #unmade = new Set<string>()
  #isFilled = false
  #isStopped = false
  #reading: PromiseWithResolvers<void> | undefined
  #endReading = () => {}

  constructor(ledger: Pick<Ledger, 'snapshot' | 'subscribe'>, budget: LoopBudget) {
    this.#ledger = ledger
    this.#budget = budget
    this.#unsubscribe = ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      for (const { bucket, key } of event.changes) if (bucket === BUCKETS.machines) this.#changed.add(key)
    })
  }

  get size(): number {
    return this.#machines.size
  }

  of(peer: string): Machine | undefined {
    return this.#machines.get(peer)
  }

  /** All of them, in no order. */
  all(): Iterable<Machine> {
    return this.#machines.values()
  }

  /** All of them as they are now, in the order of their first addresses' text. */
  inOrder(): Iterable<Machine> {
    return inOrder([...this.#machines.values()], (a, b) => a.firstKey < b.firstKey)
  }

  /** Resolves when the list has all that the ledger says, or was stopped. */
  async caughtUp(): Promise<void> {
    while (!this.#isCurrent && !this.#isStopped) await this.#read()
  }

  /** Brings the list up to what the ledger says, in steps of a moment; several may go on beside each other. */
  *steps(): Generator<void, void> {
    let seen = 0
    if (!this.#isFilled) {
      for (const { key } of this.#ledger.snapshot().entries(BUCKETS.machines)) {
        this.#look(key)
        if (++seen % STEP_MACHINES === 0) yield
      }
      this.#isFilled = true
    }
    for (const key of Array.from(this.#changed)) {
      this.#look(key)
      if (++seen % STEP_MACHINES === 0) yield
    }
    for (const peer of Array.from(this.#unmade)) {
      seen += this.#make(peer)
      if (seen < STEP_MACHINES) continue
      seen = 0
      yield
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#unsubscribe()
    this.#endReading()
    this.#reading?.resolve()
  }

  get #isCurrent(): boolean {
    return this.#isFilled && this.#changed.size === 0 && this.#unmade.size === 0
  }

  #read(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading.promise
    const reading = (this.#reading = Promise.withResolvers<void>())
    this.#endReading = this.#budget.walk('members', this.steps(), () => {
      this.#reading = undefined
      reading.resolve()
    })
    return reading.promise
  }

  /** Reads what the entry of a key says now. */
  #look(key: string): void {
    this.#changed.delete(key)
    const before = this.#records.get(key)
    const record = recordOf(this.#ledger.snapshot().getLive(BUCKETS.machines, key), key)
    if (before === undefined && record === undefined) return
    if (record === undefined) this.#records.delete(key)
    else this.#records.set(key, record)
    if (before !== undefined && before.PeerID !== record?.PeerID) {
      this.#keys.get(before.PeerID)?.delete(key)
      this.#unmade.add(before.PeerID)
    }
    if (record === undefined) return
    const keys = this.#keys.get(record.PeerID)
    if (keys === undefined) this.#keys.set(record.PeerID, new Set([key]))
    else keys.add(key)
    this.#unmade.add(record.PeerID)
  }

  /** Makes a peer's machine of its records. @returns how many those are */
  #make(peer: string): number {
    this.#unmade.delete(peer)
    const keys = [...(this.#keys.get(peer) ?? [])].sort()
    const sorted = keys.flatMap((key) => this.#records.get(key) ?? []).sort((a, b) => rankOf(a) - rankOf(b))
    const [[record], [firstKey]] = [sorted, keys]
    if (record === undefined || firstKey === undefined) {
      this.#keys.delete(peer)
      this.#machines.delete(peer)
    } else {
      const addresses = sorted.map(({ Address }) => Address)
      this.#machines.set(peer, { record, addresses, firstKey })
    }
    return keys.length
  }
}

/**
 * Reads a machine's record. `Address` is the key, by which packets are routed: in the entry of an IPv6 address
 * the record names the machine's IPv4 address, for the sake of legacy members.
 */
function recordOf(entry: Entry | undefined, key: string): MachineRecord | undefined {
  const record = entry && machineRecord.safeParse(tryParseJson(entry.value)).data
  return record === undefined || record.Address === key ? record : { ...record, Address: key }
}

/** IPv4 first; the addresses of guests, which have names of their own, last. */
function rankOf({ Address, ['Guest']: guest }: MachineRecord): number {
  return (guest === true ? 2 : 0) + (Address.includes(':') ? 1 : 0)
}

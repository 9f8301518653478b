/**
 * Says which entry goes first when there is no room: the signer that holds most loses one. Tombstones go first where the room
 * says so, then open entries before owned ones, then the oldest. The order depends on the ledger only, so all members
 * agree. Each change keeps it up to date, so that a full room needs no search.
 */
import { Heap } from '@mesh/core'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { byAge } from './position-order.ts'

interface Standing {
  readonly owner: string
  /** The part of the room that the signer holds. */
  readonly portion: number
}

/** The entries of one signer. */
interface Held {
  readonly rows: Map<Entry, KeyedEntry>
  /** The entries in the order in which they go; it holds what is gone, too, until that comes to the top. */
  order: Heap<KeyedEntry>
}

export interface EvictionQueueInit {
  readonly isOpen: (bucket: string) => boolean
  readonly endedFirst: boolean
  readonly portionOf: (owner: string) => number
}

/** A heap may hold this many that are gone, beside as many as are there, before it is made anew. */
const MAX_STALE = 1_000

export class EvictionQueue {
  readonly #init: EvictionQueueInit
  readonly #isBefore: (a: KeyedEntry, b: KeyedEntry) => boolean
  readonly #owners = new Map<string, Held>()
  #signers = new Heap<Standing>(holdsMore)

  constructor(init: EvictionQueueInit) {
    this.#init = init
    this.#isBefore = (a, b) => goesBefore(a, b, init)
  }

  /** Call it when the row is counted in its signer's portion. */
  added(row: KeyedEntry): void {
    const { owner } = row.entry
    const held = this.#owners.get(owner) ?? { rows: new Map(), order: new Heap(this.#isBefore) }
    this.#owners.set(owner, held)
    held.rows.set(row.entry, row)
    held.order.push(row)
    this.#rank(owner)
  }

  /** Call it when the row is no longer counted. */
  removed({ entry }: KeyedEntry): void {
    const held = this.#owners.get(entry.owner)
    if (held === undefined) return
    held.rows.delete(entry)
    if (held.rows.size === 0) this.#owners.delete(entry.owner)
    else if (held.order.size > 2 * held.rows.size + MAX_STALE) {
      held.order = new Heap(this.#isBefore, [...held.rows.values()])
    }
    this.#rank(entry.owner)
  }

  /** Who holds most, `except` left out. */
  largest(except: string): string | undefined {
    const aside: Standing[] = []
    let found: string | undefined
    for (let top = this.#signers.peek(); top !== undefined; top = this.#signers.peek()) {
      const isCurrent = top.portion > 0 && top.portion === this.#init.portionOf(top.owner)
      if (isCurrent && top.owner !== except) {
        found = top.owner
        break
      }
      this.#signers.pop()
      if (isCurrent && aside.length === 0) aside.push(top)
    }
    for (const standing of aside) this.#signers.push(standing)
    return found
  }

  /** The signer's entry that goes first. */
  first(owner: string): KeyedEntry | undefined {
    const held = this.#owners.get(owner)
    if (held === undefined) return undefined
    for (let top = held.order.peek(); top !== undefined; top = held.order.peek()) {
      if (held.rows.has(top.entry)) return top
      held.order.pop()
    }
    return undefined
  }

  #rank(owner: string): void {
    const portion = this.#init.portionOf(owner)
    if (portion > 0) this.#signers.push({ owner, portion })
    if (this.#signers.size <= 2 * this.#owners.size + MAX_STALE) return
    const standings = [...this.#owners.keys()].map((each) => ({
      owner: each,
      portion: this.#init.portionOf(each),
    }))
    this.#signers = new Heap(holdsMore, standings)
  }
}

function holdsMore(a: Standing, b: Standing): boolean {
  return a.portion === b.portion ? a.owner > b.owner : a.portion > b.portion
}

function goesBefore(a: KeyedEntry, b: KeyedEntry, { isOpen, endedFirst }: EvictionQueueInit): boolean {
  if (endedFirst && a.entry.deleted !== b.entry.deleted) return a.entry.deleted
  const [openA, openB] = [isOpen(a.bucket), isOpen(b.bucket)]
  if (openA !== openB) return openA
  return byAge(a, b) < 0
}

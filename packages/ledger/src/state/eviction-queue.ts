/**
 * Which entry goes first when there is no room: of the signer that holds most, open entries before owned ones, the
 * oldest first. It depends on what the ledger holds and on nothing else, so that all members come to the same.
 */
import { Heap } from '@mesh/core'
import type { KeyedEntry } from '../entries/entry.ts'
import { comparePositions } from './tree-node.ts'

interface Standing {
  readonly owner: string
  /** The part of the room that the signer holds. */
  readonly share: number
}

export interface EvictionQueueInit {
  readonly rows: Iterable<KeyedEntry>
  readonly isOpen: (bucket: string) => boolean
  readonly shareOf: (owner: string) => number
}

/** Changes that may come before the queue is made anew: it holds what is gone, too, until that comes to the top. */
const MAX_STALE = 100_000

export class EvictionQueue {
  readonly #init: EvictionQueueInit
  readonly #isBefore: (a: KeyedEntry, b: KeyedEntry) => boolean
  readonly #rows = new Map<string, KeyedEntry[] | Heap<KeyedEntry>>()
  readonly #signers = new Heap<Standing>(holdsMore)
  #changes = 0

  constructor(init: EvictionQueueInit) {
    this.#init = init
    this.#isBefore = (a, b) => goesBefore(a, b, init.isOpen)
    for (const row of init.rows) this.#listOf(row.entry.owner).push(row)
    for (const owner of this.#rows.keys()) this.#signers.push({ owner, share: init.shareOf(owner) })
    this.#changes = 0
  }

  /** True when so much has changed that a new queue is better. */
  get isStale(): boolean {
    return this.#changes > MAX_STALE
  }

  added(row: KeyedEntry): void {
    this.#listOf(row.entry.owner).push(row)
    this.changed(row.entry.owner)
  }

  /** The owner holds more or less than before. */
  changed(owner: string): void {
    this.#changes++
    this.#signers.push({ owner, share: this.#init.shareOf(owner) })
  }

  /** Who holds most, `except` left out. */
  largest(except: string): string | undefined {
    const aside: Standing[] = []
    let found: string | undefined
    for (let top = this.#signers.peek(); top !== undefined; top = this.#signers.peek()) {
      const isCurrent = top.share > 0 && top.share === this.#init.shareOf(top.owner)
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

  /** The signer's entry that goes first, of those that are still held. */
  first(owner: string, isHeld: (row: KeyedEntry) => boolean): KeyedEntry | undefined {
    const known = this.#rows.get(owner)
    if (known === undefined) return undefined
    const heap = known instanceof Heap ? known : new Heap(this.#isBefore, known)
    this.#rows.set(owner, heap)
    for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
      if (isHeld(top)) return top
      heap.pop()
    }
    return undefined
  }

  #listOf(owner: string): KeyedEntry[] | Heap<KeyedEntry> {
    const known = this.#rows.get(owner)
    if (known !== undefined) return known
    const rows: KeyedEntry[] = []
    this.#rows.set(owner, rows)
    return rows
  }
}

function holdsMore(a: Standing, b: Standing): boolean {
  return a.share === b.share ? a.owner > b.owner : a.share > b.share
}

function goesBefore(a: KeyedEntry, b: KeyedEntry, isOpen: (bucket: string) => boolean): boolean {
  const [openA, openB] = [isOpen(a.bucket), isOpen(b.bucket)]
  if (openA !== openB) return openA
  if (a.entry.version !== b.entry.version) return a.entry.version < b.entry.version
  return comparePositions(a, b) < 0
}

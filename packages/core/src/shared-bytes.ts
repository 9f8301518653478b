import type { Clock } from './clock.ts'
import { greatestGroup } from './greatest-group.ts'

/** Somebody's bytes that wait for whoever is to take them. */
export interface WaitingBytes {
  readonly peer: string
  /** The group of addresses that the peer comes from: keys cost nothing. */
  readonly address: string
  /** The number of bytes that wait now. */
  count(): number
  /** Ends what they belong to; none of them waits any more then. */
  end(reason: Error): void
}

/** How often those of whom nothing waits any more are let go, in ms. */
const LOOK_MS = 1_000
/** When there are too many bytes, this part of the bound is made free, so that the next ones need no look at once. */
const FREED_PART = 1 / 8

/**
 * Bounds how many bytes wait in all, for readers who do not read, in however many places. When there are too many, of
 * the address with the most the peer with the most loses its largest.
 */
export class SharedBytes {
  readonly #maxBytes: number
  readonly #clock: Pick<Clock, 'after'>
  /** Whose bytes wait, and how many did when they were counted last: what is taken since is seen at the next look. */
  readonly #counted = new Map<WaitingBytes, number>()
  #bytes = 0
  #isLooking = false

  /** @param maxBytes how many bytes may wait in all */
  constructor(maxBytes: number, clock: Pick<Clock, 'after'>) {
    this.#maxBytes = maxBytes
    this.#clock = clock
  }

  /** The number of bytes that wait in all, or somewhat more. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts somebody's bytes anew; to be called whenever there are more, and as one likes when there are fewer. */
  count(waiting: WaitingBytes): void {
    this.#set(waiting, waiting.count())
    if (this.#bytes > this.#maxBytes) this.#enforce()
    if (this.#counted.size > 0) this.#lookLater()
  }

  #set(waiting: WaitingBytes, bytes: number): void {
    this.#bytes += bytes - (this.#counted.get(waiting) ?? 0)
    if (bytes === 0) this.#counted.delete(waiting)
    else this.#counted.set(waiting, bytes)
  }

  #lookLater(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#clock.after(LOOK_MS, () => {
      this.#isLooking = false
      this.#countAll()
      if (this.#counted.size > 0) this.#lookLater()
    })
  }

  #countAll(): void {
    for (const waiting of this.#counted.keys()) this.#set(waiting, waiting.count())
  }

  #enforce(): void {
    this.#countAll()
    if (this.#bytes <= this.#maxBytes) return
    const ended: Counted[] = []
    while (this.#bytes > this.#maxBytes * (1 - FREED_PART)) {
      const largest = largestOf([...this.#counted].map(([waiting, bytes]): Counted => ({ waiting, bytes })))
      ended.push(largest)
      this.#set(largest.waiting, 0)
    }
    const reason = new Error('too much waits to be read')
    for (const { waiting } of ended) waiting.end(reason)
  }
}

interface Counted {
  readonly waiting: WaitingBytes
  readonly bytes: number
}

function largestOf(counted: readonly Counted[]): Counted {
  const bytesOf = ({ bytes }: Counted) => bytes
  const ofAddress = greatestGroup(counted, ({ waiting }) => waiting.address, bytesOf)
  const ofPeer = greatestGroup(ofAddress, ({ waiting }) => waiting.peer, bytesOf)
  return ofPeer.reduce((a, b) => (b.bytes > a.bytes ? b : a))
}

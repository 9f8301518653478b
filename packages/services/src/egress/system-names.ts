/**
 * Names that only the system knows: those of its hosts file and of the local network. A look-up holds one of the few
 * threads that this node's files need, too, for as long as a slow name server likes, and cannot be ended. So few go on at
 * a time, one of each asker, and next is the asker for whom the system has worked the least.
 */
import { BoundedMap, type Clock, greatestGroup } from '@mesh/core'
import {
  MAX_NAME_ASKERS,
  MAX_SYSTEM_LOOKUPS,
  MAX_WAITING_NAMES,
  MAX_WAITING_NAMES_PER_ASKER,
} from '../limits.ts'

export type AskSystem = (name: string) => Promise<readonly string[]>

export interface Asker {
  /** Whose turn it is: an address, or whatever else costs something to have many of. */
  readonly asker: string
  readonly signal: AbortSignal
}

interface Waiting {
  readonly asker: string
  readonly begin: () => void
  readonly refuse: (error: Error) => void
}

export class SystemNames {
  readonly #ask: AskSystem
  readonly #clock: Clock
  #waiting: readonly Waiting[] = []
  /** Those for whom a look-up goes on. */
  readonly #busy = new Set<string>()
  /** How long the system worked for each asker, in ms; a new one begins with what the last one had. */
  readonly #usedMs = new BoundedMap<string, number>(MAX_NAME_ASKERS)
  #lastUsedMs = 0

  constructor(ask: AskSystem, clock: Clock) {
    this.#ask = ask
    this.#clock = clock
  }

  /** Rejects with the system's error, with the signal's reason, or because too many names are asked for. */
  lookUp(name: string, { asker, signal }: Asker): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const leave = () => {
        this.#remove(waiting)
        reject(signal.reason as Error)
      }
      const end = () => signal.removeEventListener('abort', leave)
      const begin = () => {
        end()
        void this.#run(name, asker).then(resolve, reject)
      }
      const refuse = (error: Error) => {
        end()
        reject(error)
      }
      const waiting: Waiting = { asker, begin, refuse }
      signal.addEventListener('abort', leave, { once: true })
      this.#add(waiting)
      this.#next()
    })
  }

  #add(waiting: Waiting): void {
    if (this.#of(waiting.asker).length >= MAX_WAITING_NAMES_PER_ASKER) return waiting.refuse(tooMany())
    this.#waiting = [...this.#waiting, waiting]
    if (this.#waiting.length <= MAX_WAITING_NAMES) return
    const surplus = this.#ofBusiest().at(-1)
    if (surplus === undefined) return
    this.#remove(surplus)
    surplus.refuse(tooMany())
  }

  #next(): void {
    while (this.#busy.size < MAX_SYSTEM_LOOKUPS) {
      const next = this.#inTurn()
      if (next === undefined) return
      this.#remove(next)
      this.#busy.add(next.asker)
      this.#lastUsedMs = this.#usedOf(next.asker)
      next.begin()
    }
  }

  /** The first of the asker for whom the system has worked the least, of those for whom it does nothing now. */
  #inTurn(): Waiting | undefined {
    let inTurn: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (this.#busy.has(waiting.asker)) continue
      if (inTurn === undefined || this.#usedOf(waiting.asker) < this.#usedOf(inTurn.asker)) inTurn = waiting
    }
    return inTurn
  }

  async #run(name: string, asker: string): Promise<readonly string[]> {
    const startMs = this.#clock.monotonic()
    try {
      return await this.#ask(name)
    } finally {
      this.#usedMs.set(asker, this.#usedOf(asker) + this.#clock.monotonic() - startMs)
      this.#busy.delete(asker)
      this.#next()
    }
  }

  #usedOf(asker: string): number {
    return this.#usedMs.get(asker) ?? this.#lastUsedMs
  }

  #of(asker: string): readonly Waiting[] {
    return this.#waiting.filter((each) => each.asker === asker)
  }

  #ofBusiest(): readonly Waiting[] {
    return greatestGroup(this.#waiting, ({ asker }) => asker)
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== waiting)
  }
}

const tooMany = () => new Error('too many names wait to be looked up')

/**
 * Names that only the system knows: those of its hosts file and of the local network. A look-up holds one of the few
 * threads that this node's files need, too, for as long as a slow name server likes, and cannot be ended. So few go on at
 * a time, one of each asker. The asker that was served longest ago is next.
 */
import { BoundedMap } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { MAX_NAME_ASKERS, MAX_SYSTEM_LOOKUPS, WAITING_NAMES } from '../limits.ts'

export type AskSystem = (name: string) => Promise<readonly string[]>

export interface Asker {
  /** An address, or something else that costs much to have often. */
  readonly asker: string
  readonly signal: AbortSignal
}

interface Waiting {
  readonly asker: string
  readonly begin: () => void
}

export class SystemNames {
  readonly #ask: AskSystem
  readonly #places = new Scope(WAITING_NAMES)
  readonly #waiting = new Set<Waiting>()
  /** The askers for which a look-up goes on. */
  readonly #busy = new Set<string>()
  /** The number of the last look-up of each asker. */
  readonly #served = new BoundedMap<string, number>(MAX_NAME_ASKERS)
  #lookUps = 0

  constructor(ask: AskSystem) {
    this.#ask = ask
  }

  /** Rejects with the system's error, with the signal's reason, or because too many names are asked for. */
  lookUp(name: string, { asker, signal }: Asker): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const leave = () => {
        place?.release()
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', abort)
      }
      const abort = () => {
        leave()
        reject(signal.reason as Error)
      }
      const refuse = () => {
        leave()
        reject(new Error('too many names wait to be looked up'))
      }
      const begin = () => {
        leave()
        void this.#run(name, asker).then(resolve, reject)
      }
      const waiting: Waiting = { asker, begin }
      const place = this.#places.reserve({ address: asker, end: refuse })
      if (place === undefined) return refuse()
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(waiting)
      this.#next()
    })
  }

  #next(): void {
    while (this.#busy.size < MAX_SYSTEM_LOOKUPS) {
      const idle = [...this.#waiting].filter(({ asker }) => !this.#busy.has(asker))
      const [next] = idle.toSorted((a, b) => this.#servedAt(a) - this.#servedAt(b))
      if (next === undefined) return
      this.#busy.add(next.asker)
      this.#served.set(next.asker, ++this.#lookUps)
      next.begin()
    }
  }

  #servedAt({ asker }: Waiting): number {
    return this.#served.get(asker) ?? 0
  }

  async #run(name: string, asker: string): Promise<readonly string[]> {
    try {
      return await this.#ask(name)
    } finally {
      this.#busy.delete(asker)
      this.#next()
    }
  }
}

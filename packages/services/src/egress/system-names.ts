/**
 * Names that only the system knows: those of its hosts file and of the local network. A look-up holds one of the few
 * threads that this node's files need, too, for as long as a slow name server likes, and cannot be ended. So few go on at
 * a time, one of each asker, and one asker after the other.
 */
import { Scope } from '@mesh/core/limits'
import { MAX_SYSTEM_LOOKUPS, WAITING_NAMES } from '../limits.ts'

export type AskSystem = (name: string) => Promise<readonly string[]>

export interface Asker {
  /** An address, or something else that costs much to have often. */
  readonly asker: string
  readonly signal: AbortSignal
}

export class SystemNames {
  readonly #ask: AskSystem
  readonly #places = new Scope(WAITING_NAMES)
  /** Begins the look-ups that wait, by asker; whose look-up began last is last. */
  readonly #waiting = new Map<string, Set<() => void>>()
  /** The askers for which a look-up goes on. */
  readonly #busy = new Set<string>()

  constructor(ask: AskSystem) {
    this.#ask = ask
  }

  /** Rejects with the system's error, with the signal's reason, or because too many names are asked for. */
  lookUp(name: string, { asker, signal }: Asker): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const own = this.#waiting.get(asker) ?? new Set()
      const leave = () => {
        place?.release()
        own.delete(begin)
        if (own.size === 0) this.#waiting.delete(asker)
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
      const place = this.#places.reserve({ address: asker, end: refuse })
      if (place === undefined) return refuse()
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.set(asker, own.add(begin))
      this.#next()
    })
  }

  #next(): void {
    for (const [asker, own] of this.#waiting) {
      if (this.#busy.size >= MAX_SYSTEM_LOOKUPS) return
      const [begin] = own
      if (begin === undefined || this.#busy.has(asker)) continue
      this.#busy.add(asker)
      this.#waiting.delete(asker)
      this.#waiting.set(asker, own)
      begin()
    }
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

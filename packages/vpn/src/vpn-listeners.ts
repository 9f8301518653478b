/** Those who listen to a VPN: one that throws harms nobody else. */
import type { Logger } from '@mesh/core'
import type { VpnEvent, VpnProblem } from './vpn.ts'

export class VpnListeners {
  readonly #listeners = new Set<(event: VpnEvent) => void>()
  readonly #log: Logger
  #toldProblems = ''

  constructor(log: Logger) {
    this.#log = log
  }

  /** The returned function unsubscribes. */
  subscribe(listener: (event: VpnEvent) => void): () => void {
    // the same function may be given twice
    const own = (event: VpnEvent) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  /** Tells that problems are others than those that were told last. */
  tellProblems(problems: readonly VpnProblem[]): void {
    const text = JSON.stringify(problems)
    if (text === this.#toldProblems) return
    this.#toldProblems = text
    this.emit({ type: 'problems' })
  }

  emit(event: VpnEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#log.error('listener of the VPN failed', { event: event.type, error })
      }
    }
  }
}

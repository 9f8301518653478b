/** Those who listen to a VPN: one that throws harms nobody else. */
import type { Logger } from '@mesh/core'
import type { VpnEvent } from './vpn.ts'

export class VpnListeners {
  readonly #listeners = new Set<(event: VpnEvent) => void>()
  readonly #log: Logger

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

import type { P2pEvent } from '../p2p-node.ts'

/** Tells a member's subscribers of its events. */
export class MemberEvents {
  readonly #listeners = new Set<(event: P2pEvent) => void>()

  readonly emit = (event: P2pEvent): void => {
    for (const listener of this.#listeners) listener(event)
  }

  subscribe(listener: (event: P2pEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  stop(): void {
    this.#listeners.clear()
  }
}

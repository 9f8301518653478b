/** Which members are on the topic now, and who came and went. */
import type { PeerId } from '@mesh/core'

export class TopicMembers {
  readonly #list: () => readonly PeerId[]
  readonly #listeners = new Set<(peer: PeerId, present: boolean) => void>()
  #present = new Set<PeerId>()

  /** `list` gives the members that are on the topic at the moment. */
  constructor(list: () => readonly PeerId[]) {
    this.#list = list
  }

  /** Compares with the last time, and tells the listeners of each difference. */
  readonly update = (): void => {
    const now = new Set(this.#list())
    const came = [...now].filter((peer) => !this.#present.has(peer))
    const went = [...this.#present].filter((peer) => !now.has(peer))
    this.#present = now
    for (const listener of this.#listeners) {
      for (const peer of came) listener(peer, true)
      for (const peer of went) listener(peer, false)
    }
  }

  onPeer(listener: (peer: PeerId, present: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  stop(): void {
    this.#listeners.clear()
  }
}

/** Which members are on the topic now, and who came and went. */
import type { PeerId } from '@mesh/core'
import { Listeners } from '../listeners.ts'

export class TopicMembers {
  readonly #list: () => readonly PeerId[]
  readonly #listeners = new Listeners<[peer: PeerId, present: boolean]>()
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
    for (const peer of came) this.#listeners.tell(peer, true)
    for (const peer of went) this.#listeners.tell(peer, false)
  }

  readonly onPeer = this.#listeners.add

  stop(): void {
    this.#listeners.clear()
  }
}

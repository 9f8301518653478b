/** A queue of work on many peers: some at a time, the others wait in order, each peer once. */
import type { PeerId } from '@mesh/core'

/** @param init.run must not reject */
export function createWorkQueue(init: {
  readonly concurrency: number
  readonly maxWaiting: number
  readonly run: (peer: PeerId) => Promise<void>
}) {
  const waiting = new Set<PeerId>()
  const running = new Set<PeerId>()
  let stopped = false

  function fill(): void {
    for (const peer of waiting) {
      if (stopped || running.size >= init.concurrency) return
      waiting.delete(peer)
      running.add(peer)
      void init.run(peer).finally(() => {
        running.delete(peer)
        fill()
      })
    }
  }

  return {
    /** False when the peer waits or runs already, or too many wait. */
    enqueue(peer: PeerId): boolean {
      if (stopped || waiting.has(peer) || running.has(peer) || waiting.size >= init.maxWaiting) return false
      waiting.add(peer)
      fill()
      return true
    },
    /** Takes the peer out of those that wait. */
    remove: (peer: PeerId) => void waiting.delete(peer),
    /** True while the peer waits or runs. */
    has: (peer: PeerId) => waiting.has(peer) || running.has(peer),
    stop() {
      stopped = true
      waiting.clear()
    },
  }
}

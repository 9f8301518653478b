/** Tells listeners what happened, in order, and counts refusals. */
import { KeyedCounts, type Logger, type PeerId, shortPeerId } from '@mesh/core'
import type { KeyedEntry } from './entries/entry.ts'
import type { LedgerEvent, RejectionCode } from './ledger.ts'

export function createLedgerEvents(log: Logger) {
  const listeners = new Set<(event: LedgerEvent) => void>()
  const counts = new KeyedCounts<RejectionCode>()
  const queue: LedgerEvent[] = []
  let telling = false

  /** A listener may write, which makes further events: they wait until all have heard this one. */
  const emit = (event: LedgerEvent) => {
    queue.push(event)
    if (telling) return
    telling = true
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      for (const listener of listeners) {
        try {
          listener(next)
        } catch (error) {
          log.error('ledger listener failed', { event: next.type, error })
        }
      }
    }
    telling = false
  }
  return {
    subscribe(listener: (event: LedgerEvent) => void): () => void {
      const own = (event: LedgerEvent) => listener(event)
      listeners.add(own)
      return () => listeners.delete(own)
    },
    emit,
    /** Counts a refusal and tells of it. */
    reject(
      { bucket, key, entry: { owner, version, value } }: KeyedEntry,
      code: RejectionCode,
      author: PeerId | undefined,
    ) {
      counts.add(code)
      log.debug('entry rejected', { bucket, key, owner: shortPeerId(owner), code, author })
      emit({ type: 'rejected', bucket, key, owner, version, value, code, author })
    },
    rejections: () => Object.fromEntries(counts.entries()),
  }
}

export type LedgerEvents = ReturnType<typeof createLedgerEvents>

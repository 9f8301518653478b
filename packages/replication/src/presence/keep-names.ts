/**
 * Writes what this node said in `dns` again when others ended it, as they do ten minutes after a node was last heard: it was
 * off, slept, was cut off, or had a clock that was wrong by hours. All else that is owned is announced by the part of the
 * node that it belongs to; a name was written once, by a person. What the node ended itself stays ended, and a name that
 * another has taken meanwhile is the other's.
 */
import { BUCKETS, type Clock, type Logger } from '@mesh/core'
import type { Ledger, LedgerEvent } from '@mesh/ledger'
import { NAMES_PAUSE_MS } from '../limits.ts'

interface KeepNamesComponents {
  readonly ledger: Pick<Ledger, 'self' | 'snapshot' | 'put' | 'subscribe'>
  readonly clock: Clock
  readonly logger: Logger
}

/** The returned function stops. */
export function startKeepingNames({ ledger, clock, logger }: KeepNamesComponents): () => void {
  const { self } = ledger
  /** Value by key, of those that were ended since the last look. */
  const ended = new Map<string, string>()
  let cancel: (() => void) | undefined
  const write = () => {
    cancel = undefined
    const keys = [...ended]
    ended.clear()
    for (const [key, value] of keys) {
      if (ledger.snapshot().getLive(BUCKETS.dns, key) !== undefined) continue
      try {
        void ledger.put(BUCKETS.dns, key, value).settled
        logger.info('name written again', { key })
      } catch (error) {
        logger.warn('name not written again', { key, error })
      }
    }
  }
  const hear = (event: LedgerEvent) => {
    if (event.type !== 'committed') return
    for (const { bucket, key, entry, previous } of event.changes) {
      if (bucket !== BUCKETS.dns) continue
      if (entry.owner === self || !entry.deleted) ended.delete(key)
      else if (previous?.owner === self && !previous.deleted) ended.set(key, previous.value)
    }
    // others may still hold this node for gone, and would end it again: its heartbeat goes first
    if (ended.size > 0) cancel ??= clock.after(NAMES_PAUSE_MS, write)
  }
  const unsubscribe = ledger.subscribe(hear)
  return () => {
    unsubscribe()
    cancel?.()
  }
}

/**
 * Writes this node's entries of `dns` again when other members ended them. Members do that ten minutes after they last heard
 * a node that was off, asleep, cut off or had a wrong clock. A person wrote such a name only once, so no other part of the
 * node repeats it. Names that this node ended, or that another member took meanwhile, stay so.
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

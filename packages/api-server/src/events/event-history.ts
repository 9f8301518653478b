/**
 * The last changes and refusals, for readers that ask for what happened before they came. Refusals have a place of
 * their own: a member that is refused often pushes no change out.
 */
import { BoundedRing, BUCKETS } from '@mesh/core'
import { EVENT_HISTORY_SIZE, type EventData, type EventType } from '@mesh/api-contract'
import { MAX_EVENT_HISTORY_BYTES } from '../limits.ts'

export interface KeptEvent {
  readonly type: EventType
  readonly text: string
}

export interface PastEvent extends KeptEvent {
  readonly number: number
  /** JSON, with the time at which it happened. */
  readonly text: string
}

export interface EventHistory {
  /** Keeps what is a change or a refusal. @param text the data as JSON @param at Unix ms */
  note(event: { number: number; type: EventType; data: unknown; text: string; at: number }): void
  /** The last ones, oldest first. */
  last(count: number): readonly PastEvent[]
}

export function createEventHistory(): EventHistory {
  const changes = createEventRing<PastEvent>(EVENT_HISTORY_SIZE, MAX_EVENT_HISTORY_BYTES)
  const refusals = createEventRing<PastEvent>(EVENT_HISTORY_SIZE, MAX_EVENT_HISTORY_BYTES)
  return {
    note({ number, type, data, text, at }) {
      const shelf = type === 'ledger.rejected' ? refusals : changes
      if (!isWorthKeeping(type, data)) return
      shelf.push({ number, type, text: `{"At":"${new Date(at).toISOString()}",${text.slice(1)}` })
    },
    last(count) {
      if (count === 0) return []
      const latest = [changes, refusals].flatMap(({ items }) => items.slice(-count))
      return latest.sort((a, b) => a.number - b.number).slice(-count)
    },
  }
}

/** Heartbeats repeat themselves, and would leave no place for anything else. */
function isWorthKeeping(type: EventType, data: unknown): boolean {
  if (type === 'ledger.rejected' || type === 'ledger.conflict') return true
  if (type !== 'ledger.changed') return false
  const { Changes, More } = data as EventData<'ledger.changed'>
  return More > 0 || Changes.some(({ Bucket }) => Bucket !== BUCKETS.healthcheck)
}

/** A ring of the last events, bounded in number and bytes. */
export function createEventRing<Kept extends KeptEvent>(
  maxItems: number,
  maxSize: number,
): BoundedRing<Kept> {
  return new BoundedRing({ maxItems, maxSize, sizeOf: ({ text }) => text.length })
}

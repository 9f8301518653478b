/**
 * The last changes and refusals, for readers that ask for what happened before they came. Refusals have a place of
 * their own: a member that is refused often pushes no change out.
 */
import { BUCKETS } from '@mesh/core'
import { EVENT_HISTORY_SIZE, type EventData, type EventType } from '@mesh/api-contract'
import { MAX_EVENT_HISTORY_BYTES } from '../limits.ts'

export interface PastEvent {
  readonly number: number
  readonly type: EventType
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
  const changes = createShelf()
  const refusals = createShelf()
  return {
    note({ number, type, data, text, at }) {
      const shelf = type === 'ledger.rejected' ? refusals : changes
      if (!isWorthKeeping(type, data)) return
      shelf.put({ number, type, text: `{"At":"${new Date(at).toISOString()}",${text.slice(1)}` })
    },
    last(count) {
      if (count === 0) return []
      const latest = [changes, refusals].flatMap(({ events }) => events.slice(-count))
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

function createShelf() {
  const events: PastEvent[] = []
  let bytes = 0
  return {
    events,
    put(event: PastEvent): void {
      events.push(event)
      bytes += event.text.length
      while (events.length > EVENT_HISTORY_SIZE || (bytes > MAX_EVENT_HISTORY_BYTES && events.length > 1)) {
        bytes -= events.shift()?.text.length ?? 0
      }
    },
  }
}

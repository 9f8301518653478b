/**
 * The last changes and refusals, for readers that ask for what happened before they came. Refusals have a place of
 * their own: a member that is refused often pushes no change out.
 */
import { BUCKETS } from '@mesh/core'
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
  const changes = new EventRing<PastEvent>(EVENT_HISTORY_SIZE, MAX_EVENT_HISTORY_BYTES)
  const refusals = new EventRing<PastEvent>(EVENT_HISTORY_SIZE, MAX_EVENT_HISTORY_BYTES)
  return {
    note({ number, type, data, text, at }) {
      const shelf = type === 'ledger.rejected' ? refusals : changes
      if (!isWorthKeeping(type, data)) return
      shelf.push({ number, type, text: `{"At":"${new Date(at).toISOString()}",${text.slice(1)}` })
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

/** The last events, bounded in number and bytes. */
export class EventRing<Kept extends KeptEvent> {
  readonly events: Kept[] = []
  readonly #maxEvents: number
  readonly #maxBytes: number
  #bytes = 0
  /** Number of the oldest event that is kept. */
  first = 1

  constructor(maxEvents: number, maxBytes: number) {
    this.#maxEvents = maxEvents
    this.#maxBytes = maxBytes
  }

  /** Number of the newest event; 0 before the first. */
  get last(): number {
    return this.first + this.events.length - 1
  }

  at(number: number): Kept | undefined {
    return this.events[number - this.first]
  }

  push(event: Kept): void {
    this.events.push(event)
    this.#bytes += event.text.length
    while (this.events.length > this.#maxEvents || (this.#bytes > this.#maxBytes && this.events.length > 1)) {
      this.#bytes -= this.events.shift()?.text.length ?? 0
      this.first++
    }
  }
}

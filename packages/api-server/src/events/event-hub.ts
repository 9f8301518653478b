/**
 * What happened, numbered, for any number of readers. The last events are kept in a ring; each reader has a place in
 * it and is sent more only when it took what came before. So a slow reader costs nothing, and one that falls out of
 * the ring gets a `gap`.
 */
import { EVENT_HEARTBEAT_MS, EVENT_RING_SIZE, type EventData, type EventType } from '@mesh/api-contract'
import { type Clock, type Random, stringifyExactJson } from '@mesh/core'
import { MAX_EVENT_RING_BYTES } from '../limits.ts'
import { createEventHistory, type PastEvent } from './event-history.ts'

export interface EventHub {
  publish<Type extends EventType>(type: Type, data: EventData<Type>): void
  readonly readers: number
  /** Sends from after `lastEventId`, or from now; the returned function ends it. */
  read(reader: EventReader): () => void
  /** Ends all readers. */
  stop(): void
}

export interface EventReader {
  /** Undefined: all. */
  readonly types: ReadonlySet<EventType> | undefined
  readonly lastEventId: string | undefined
  /** How many changes and refusals of the past come first; none with `lastEventId`. */
  readonly last?: number
  /** Takes text of the stream; false when no more should come before `onReady` calls back. */
  write(text: string): boolean
  onReady(callback: () => void): void
  end(): void
}

interface KeptEvent {
  readonly type: EventType
  readonly text: string
}

/** A reader's place. */
interface Place {
  readonly reader: EventReader
  /** Number of the next event that it gets. */
  next: number
  /** What comes before that, oldest first. */
  past: readonly PastEvent[]
  waiting: boolean
}

export function createEventHub({ clock, random }: { clock: Clock; random: Random }): EventHub {
  // an id of an earlier run of the node is told from ours by this
  const run = Buffer.from(random.bytes(4)).toString('hex')
  const ring: KeptEvent[] = []
  let ringBytes = 0
  /** Number of the ring's first event. */
  let first = 1
  const history = createEventHistory()
  const places = new Set<Place>()
  let stopHeartbeat = () => {}

  const lastNumber = () => first + ring.length - 1
  const idText = (number: number) => `id: ${run}-${number}\n`
  const numberOf = (id: string) => {
    const [, itsRun, digits] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(id) ?? []
    return itsRun === run && Number(digits) <= lastNumber() ? Number(digits) : undefined
  }

  const write = (place: Place, text: string) => {
    if (place.reader.write(text)) return
    place.waiting = true
    place.reader.onReady(() => {
      place.waiting = false
      pump(place)
    })
  }
  const pump = (place: Place) => {
    while (!place.waiting && places.has(place) && place.past.length > 0) {
      const [event, ...rest] = place.past
      place.past = rest
      const isWanted = event !== undefined && (place.reader.types?.has(event.type) ?? true)
      if (isWanted) write(place, `${idText(event.number)}event: ${event.type}\ndata: ${event.text}\n\n`)
      // from here on a reader that comes back continues, and is not told of the past again
      if (rest.length === 0) write(place, `${idText(place.next - 1)}\n`)
    }
    while (!place.waiting && places.has(place) && place.next <= lastNumber()) {
      if (place.next < first) {
        place.next = lastNumber() + 1
        write(place, `${idText(lastNumber())}event: gap\ndata: {}\n\n`)
        continue
      }
      const number = place.next++
      const event = ring[number - first]
      const wanted = event !== undefined && (place.reader.types?.has(event.type) ?? true)
      if (wanted) write(place, `${idText(number)}event: ${event.type}\ndata: ${event.text}\n\n`)
    }
  }
  const heartbeat = () => {
    // an id alone moves the reader's place, also past events that it did not ask for
    for (const place of places)
      if (!place.waiting && place.past.length === 0) write(place, `: heartbeat\n${idText(place.next - 1)}\n`)
    stopHeartbeat = clock.after(EVENT_HEARTBEAT_MS, heartbeat)
  }
  return {
    get readers() {
      return places.size
    },
    publish(type, data) {
      const text = stringifyExactJson(data)
      ring.push({ type, text })
      history.note({ number: lastNumber(), type, data, text, at: clock.now() })
      ringBytes += text.length
      while (ring.length > EVENT_RING_SIZE || (ringBytes > MAX_EVENT_RING_BYTES && ring.length > 1)) {
        ringBytes -= ring.shift()?.text.length ?? 0
        first++
      }
      for (const place of places) pump(place)
    },
    read(reader) {
      const asked = reader.lastEventId === undefined ? lastNumber() : numberOf(reader.lastEventId)
      const past = reader.lastEventId === undefined ? history.last(reader.last ?? 0) : []
      const place: Place = { reader, next: (asked ?? lastNumber()) + 1, past, waiting: false }
      places.add(place)
      if (places.size === 1) stopHeartbeat = clock.after(EVENT_HEARTBEAT_MS, heartbeat)
      const gap = asked === undefined ? 'event: gap\ndata: {}\n' : ''
      write(place, `retry: 1000\n${idText(place.next - 1)}${gap}\n`)
      pump(place)
      return () => {
        if (places.delete(place) && places.size === 0) stopHeartbeat()
      }
    },
    stop() {
      for (const { reader } of places) reader.end()
      places.clear()
      stopHeartbeat()
    },
  }
}

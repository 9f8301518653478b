/**
 * Numbers what happens and tells any number of readers. The last events are kept in a ring; each reader has a
 * place in it and is sent more only when it took what came before. So a slow reader costs nothing, and one
 * that falls out of the ring gets a `gap`.
 */
import { EVENT_HEARTBEAT_MS, EVENT_RING_SIZE, type EventData, type EventType } from '@mesh/api-contract'
import { type Clock, type Random, stringifyExactJson } from '@mesh/core'
import { MAX_EVENT_RING_BYTES } from '../limits.ts'
import { createEventHistory, createEventRing, type KeptEvent, type PastEvent } from './event-history.ts'

export interface EventHub {
  publish<Type extends EventType>(type: Type, data: EventData<Type>): void
  readonly readers: number
  /** Sends from after `lastEventId`, or from now; the returned function ends it. */
  read(reader: EventReader): () => void
  /** Ends the streams of all readers. */
  stop(): void
}

export interface EventReader {
  /** The types that the reader wants; all when undefined. */
  readonly types: ReadonlySet<EventType> | undefined
  readonly lastEventId: string | undefined
  /** How many changes and refusals of the past come first; none with `lastEventId`. */
  readonly last?: number
  /** Takes text of the stream; false when no more should come before `onReady` calls back. */
  write(text: string): boolean
  onReady(callback: () => void): void
  end(): void
}

/** The place of one reader. */
interface Place {
  readonly reader: EventReader
  /** Number of the next event that it gets. */
  next: number
  /** Events of the past that come before that, oldest first. */
  past: readonly PastEvent[]
  waiting: boolean
}

export function createEventHub(components: { readonly clock: Clock; readonly random: Random }): EventHub {
  return new RingEventHub(components)
}

class RingEventHub implements EventHub {
  readonly #clock: Clock
  /** Tells an id of an earlier run of the node from this one's. */
  readonly #run: string
  readonly #ring = createEventRing<KeptEvent>(EVENT_RING_SIZE, MAX_EVENT_RING_BYTES)
  readonly #history = createEventHistory()
  readonly #places = new Set<Place>()
  #stopHeartbeat = () => {}

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock
    this.#run = Buffer.from(random.bytes(4)).toString('hex')
  }

  get readers(): number {
    return this.#places.size
  }

  publish<Type extends EventType>(type: Type, data: EventData<Type>): void {
    const text = stringifyExactJson(data)
    this.#ring.push({ type, text })
    this.#history.note({ number: this.#ring.last, type, data, text, at: this.#clock.now() })
    for (const place of this.#places) this.#pump(place)
  }

  read(reader: EventReader): () => void {
    const { lastEventId } = reader
    const { last } = this.#ring
    const asked = lastEventId === undefined ? last : this.#numberOf(lastEventId)
    const past = lastEventId === undefined ? this.#history.last(reader.last ?? 0) : []
    const place: Place = { reader, next: (asked ?? last) + 1, past, waiting: false }
    this.#places.add(place)
    if (this.#places.size === 1) this.#scheduleHeartbeat()
    const gap = asked === undefined ? 'event: gap\ndata: {}\n' : ''
    this.#write(place, `retry: 1000\n${this.#idText(place.next - 1)}${gap}\n`)
    this.#pump(place)
    return () => {
      if (this.#places.delete(place) && this.#places.size === 0) this.#stopHeartbeat()
    }
  }

  stop(): void {
    for (const { reader } of this.#places) reader.end()
    this.#places.clear()
    this.#stopHeartbeat()
  }

  #pump(place: Place): void {
    while (this.#canTake(place) && place.past.length > 0) this.#sendPast(place)
    while (this.#canTake(place) && place.next <= this.#ring.last) this.#sendNext(place)
  }

  #canTake(place: Place): boolean {
    return !place.waiting && this.#places.has(place)
  }

  #sendPast(place: Place): void {
    const [event, ...rest] = place.past
    place.past = rest
    if (event !== undefined) this.#sendEvent(place, event.number, event)
    // from here on a reader that comes back continues, and is not told of the past again
    if (rest.length === 0) this.#write(place, `${this.#idText(place.next - 1)}\n`)
  }

  #sendNext(place: Place): void {
    const { first, last } = this.#ring
    if (place.next < first) {
      place.next = last + 1
      return this.#write(place, `${this.#idText(last)}event: gap\ndata: {}\n\n`)
    }
    const number = place.next++
    const event = this.#ring.at(number)
    if (event !== undefined) this.#sendEvent(place, number, event)
  }

  /** Sends nothing of a type that the reader did not ask for. */
  #sendEvent(place: Place, number: number, { type, text }: KeptEvent): void {
    if (place.reader.types?.has(type) === false) return
    this.#write(place, `${this.#idText(number)}event: ${type}\ndata: ${text}\n\n`)
  }

  #write(place: Place, text: string): void {
    if (place.reader.write(text)) return
    place.waiting = true
    place.reader.onReady(() => {
      place.waiting = false
      this.#pump(place)
    })
  }

  #scheduleHeartbeat(): void {
    this.#stopHeartbeat = this.#clock.after(EVENT_HEARTBEAT_MS, () => this.#beat())
  }

  /** An id alone moves the reader's place, also past events that it did not ask for. */
  #beat(): void {
    for (const place of this.#places) {
      if (place.waiting || place.past.length > 0) continue
      this.#write(place, `: heartbeat\n${this.#idText(place.next - 1)}\n`)
    }
    this.#scheduleHeartbeat()
  }

  #idText(number: number): string {
    return `id: ${this.#run}-${number}\n`
  }

  /** Undefined for an id of another run of the node, or one that this run has not given yet. */
  #numberOf(id: string): number | undefined {
    const [, run, digits] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(id) ?? []
    return run === this.#run && Number(digits) <= this.#ring.last ? Number(digits) : undefined
  }
}

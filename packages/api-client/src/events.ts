/** Server-sent events by fetch, which can carry a token and reads over any transport. */
import {
  type ApiEvent,
  EVENT_SILENCE_MS,
  type EventType,
  eventSchemas,
  eventTypes,
  routes,
} from '@mesh/api-contract'
import { delay, parseExactJson } from '@mesh/core'
import { createBackoff } from '@mesh/core/limits'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ApiError, errorOfAnswer } from './api-error.ts'
import type { Asker } from './asker.ts'
import { retryAfterOf } from './retry-after.ts'
import { MAX_EVENT_CHARS, RECONNECT_MAX_MS, RECONNECT_MIN_MS } from './limits.ts'

export interface EventsOptions {
  /** All types unless given; `gap` always comes. */
  readonly types?: readonly EventType[]
  /** How many changes and refusals of the past come first, each with `At`; at most 200. Not with `lastEventId`. */
  readonly last?: number
  /** Continue after this event. */
  readonly lastEventId?: string
  readonly signal?: AbortSignal
  /** Called when the stream stands, and when it broke and will be tried again. */
  readonly onState?: (state: EventsState) => void
}

export type EventsState =
  | { readonly state: 'open' }
  | {
      readonly state: 'waiting'
      readonly error: ApiError | undefined
      readonly retryInMs: number
      /** When the node was last heard, Unix ms; undefined when it never was. */
      readonly heardAt: number | undefined
    }

export async function* readEvents(asker: Asker, options: EventsOptions): AsyncIterableIterator<ApiEvent> {
  const stop = new AbortController()
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal])
  const place: Place = { lastId: options.lastEventId, heardAt: undefined }
  const backoff = createBackoff({ leastMs: RECONNECT_MIN_MS, mostMs: RECONNECT_MAX_MS }, asker)
  try {
    while (!signal.aborted) {
      let error: ApiError | undefined
      try {
        for await (const event of readStream(asker, options, place, signal)) {
          backoff.succeeded()
          yield event
        }
      } catch (cause) {
        if (signal.aborted) return
        if (!(cause instanceof ApiError) || isFinal(cause)) throw cause
        error = cause
      }
      backoff.failed()
      const retryInMs = Math.max(backoff.remainingMs(), error?.retryAfterMs ?? 0)
      options.onState?.({ state: 'waiting', error, retryInMs, heardAt: place.heardAt })
      await delay(asker.clock, retryInMs, signal).catch(() => {})
    }
  } finally {
    stop.abort()
  }
}

/** The state of the events that outlives a connection. */
interface Place {
  lastId: string | undefined
  heardAt: number | undefined
}

/** One connection; ends when the node closes it, throws ApiError when it breaks or falls silent. */
async function* readStream(
  asker: Asker,
  options: EventsOptions,
  place: Place,
  outer: AbortSignal,
): AsyncGenerator<ApiEvent, void> {
  const silence = new AbortController()
  const watch = createWatchdog(asker, silence)
  const signal = AbortSignal.any([outer, silence.signal])
  try {
    const reader = await openStream(asker, options, place.lastId, signal)
    place.heardAt = asker.clock.now()
    options.onState?.({ state: 'open' })
    const parser = createEventReader((id) => (place.lastId = id))
    for (;;) {
      watch.reset()
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw signal.aborted ? signal.reason : broken(cause)
      })
      if (done) return
      place.heardAt = asker.clock.now()
      yield* parser.read(value)
    }
  } finally {
    watch.cancel()
    silence.abort(broken(undefined))
  }
}

async function openStream(
  asker: Asker,
  options: EventsOptions,
  lastId: string | undefined,
  signal: AbortSignal,
) {
  const query = [
    ...(options.types === undefined ? [] : [`types=${options.types.join(',')}`]),
    ...(options.last === undefined || lastId !== undefined ? [] : [`last=${options.last}`]),
  ].join('&')
  const response = await asker.ask(
    { method: 'GET', path: routes.watchEvents.path + (query === '' ? '' : `?${query}`) },
    { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) },
    signal,
  )
  if (!response.ok) {
    const text = await response.text().catch(() => '')
    throw errorOfAnswer(response.status, text, retryAfterOf(response, asker.clock))
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream && response.body !== null) return response.body.getReader()
  throw new ApiError('client.bad_answer', 'the server sends no events here', { status: response.status })
}

/** `onId` learns each id; the node sends ids alone, too, when nothing of the reader's types happened. */
function createEventReader(onId: (id: string) => void) {
  const decoder = new TextDecoder()
  let events: ApiEvent[] = []
  let overflow = false
  const parser = createParser({
    onId,
    onEvent(message) {
      const event = parseEvent(message)
      if (event !== undefined) events.push(event)
    },
    onError: (error) => (overflow ||= error.type === 'max-buffer-size-exceeded'),
    maxBufferSize: MAX_EVENT_CHARS,
  })
  return {
    read(bytes: Uint8Array): readonly ApiEvent[] {
      parser.feed(decoder.decode(bytes, { stream: true }))
      if (overflow) throw new ApiError('client.bad_answer', 'an event is longer than events are')
      const complete = events
      events = []
      return complete
    },
  }
}

/** Undefined for types of newer nodes and for what does not fit its type. */
function parseEvent(message: EventSourceMessage): ApiEvent | undefined {
  const type = eventTypes.find((known) => known === message.event)
  if (type === undefined) return undefined
  try {
    const data = eventSchemas[type]().parse(parseExactJson(message.data))
    return { id: message.id ?? '', type, data } as ApiEvent
  } catch {
    return undefined
  }
}

/** Aborts when nothing came for longer than two heartbeats. */
function createWatchdog(asker: Asker, silence: AbortController) {
  let cancel = () => {}
  const reset = () => {
    cancel()
    cancel = asker.clock.after(EVENT_SILENCE_MS, () =>
      silence.abort(new ApiError('client.timeout', 'the event stream fell silent')),
    )
  }
  reset()
  return { reset, cancel: () => cancel() }
}

/** Waiting cannot mend these. */
function isFinal(error: ApiError): boolean {
  return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
}

function broken(cause: unknown): ApiError {
  return new ApiError('client.unreachable', 'the event stream broke', { cause })
}

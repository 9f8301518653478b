/**
 * Keeps the page equal to the node: reads its events and asks again for just what they changed.
 *
 * 1. events wait together for a moment
 * 2. a key of a bucket that is shown is asked for alone and put in its place
 * 3. other reads that changed are asked again where they are shown
 * 4. a gap in the events asks for everything again
 */
import type { ApiClient, EventsState } from '@mesh/api-client'
import { ApiError } from '@mesh/api-client'
import { type ApiEvent, EVENT_HISTORY_SIZE, type SummaryView } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import type { QueryClient, QueryState } from '@tanstack/react-query'
import { type Affected, affectedBy } from './affected.ts'
import { type FeedEntry, feedEntriesOf, MAX_FEED_ENTRIES, pastTime } from './feed.ts'
import { refreshKeys } from './refresh-keys.ts'

/** Events that come within this time are answered with one round of questions. */
const GATHER_MS = 200

export type LinkStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** What is shown is as old as `since`; tried again by itself. */
  | { readonly state: 'lost'; readonly since: number; readonly error: ApiError | undefined }
  /** The node does not let this page listen. */
  | { readonly state: 'refused'; readonly since: number; readonly error: ApiError }

export interface Live {
  status(): LinkStatus
  /** Gives the entries, newest first. */
  feed(): readonly FeedEntry[]
  /** Calls back when status or feed changed. */
  subscribe(listener: () => void): () => void
  /** Resolves when the stream stands or failed once: what is read later misses no event. */
  readonly ready: Promise<void>
  start(): void
  /** Pauses: what is shown grows old until the next start, which asks for what was missed. */
  stop(): void
}

interface LiveComponents {
  readonly client: ApiClient
  readonly queryClient: QueryClient
  readonly clock: Clock
}

export function createLive(components: LiveComponents): Live {
  return new EventsLive(components)
}

class EventsLive implements Live {
  readonly #components: LiveComponents
  readonly #listeners = new Set<() => void>()
  readonly #ready = Promise.withResolvers<void>()
  #stopping: AbortController | undefined
  /** Where reading goes on after a pause. */
  #lastEventId: string | undefined
  #status: LinkStatus = { state: 'connecting' }
  #feed: readonly FeedEntry[] = []
  #gathered: ApiEvent[] = []
  #cancelFlush: (() => void) | undefined

  constructor(components: LiveComponents) {
    this.#components = components
  }

  get ready(): Promise<void> {
    return this.#ready.promise
  }

  readonly status = (): LinkStatus => this.#status

  readonly feed = (): readonly FeedEntry[] => this.#feed

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  start(): void {
    if (this.#stopping !== undefined) return
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#listen(signal).catch((error: unknown) => {
      if (signal.aborted) return
      const refusal = error instanceof ApiError ? error : new ApiError('client.bad_answer', String(error))
      this.#setStatus({ state: 'refused', since: this.#components.clock.now(), error: refusal })
    })
  }

  stop(): void {
    if (this.#stopping === undefined) return
    this.#stopping.abort()
    this.#stopping = undefined
    if (this.#cancelFlush !== undefined) {
      this.#cancelFlush()
      this.#flush()
    }
    if (this.#status.state === 'connecting') return
    const since = this.#status.state === 'lost' ? this.#status.since : this.#components.clock.now()
    this.#setStatus({ state: 'lost', since, error: undefined })
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#components
    const lastEventId = this.#lastEventId
    const from = lastEventId === undefined ? { last: EVENT_HISTORY_SIZE } : { lastEventId }
    const onState = (state: EventsState) => this.#onState(state)
    for await (const event of client.events({ signal, onState, ...from })) {
      this.#lastEventId = event.id || this.#lastEventId
      this.#gathered.push(event)
      this.#cancelFlush ??= clock.after(GATHER_MS, () => this.#flush())
    }
  }

  #onState(state: EventsState): void {
    const { clock, queryClient } = this.#components
    if (state.state === 'waiting') {
      // one that hangs was silent for a while before anybody noticed
      const silentSince = state.error?.code === 'client.timeout' ? state.heardAt : undefined
      const since = this.#status.state === 'lost' ? this.#status.since : (silentSince ?? clock.now())
      return this.#setStatus({ state: 'lost', since, error: state.error })
    }
    const wasLost = this.#status.state === 'lost'
    this.#setStatus({ state: 'live' })
    if (!wasLost) return
    // polled figures are old, and so is what failed meanwhile; changes come by the events that were missed
    const isOld = ({ dataUpdatedAt, status }: QueryState) =>
      status === 'error' || dataUpdatedAt === 0 || clock.now() - dataUpdatedAt > GATHER_MS
    void queryClient.invalidateQueries({ predicate: ({ state }) => isOld(state) })
  }

  #flush(): void {
    const gathered = this.#gathered
    this.#gathered = []
    this.#cancelFlush = undefined
    this.#addToFeed(gathered)
    // what happened before the page asked is in what it read
    void refresh(this.#components, affectedBy(gathered.filter((event) => pastTime(event) === undefined)))
  }

  #addToFeed(events: readonly ApiEvent[]): void {
    const known = new Set(this.#feed.map(({ id }) => id))
    const entries = events
      .toReversed()
      .flatMap((event) => feedEntriesOf(event, pastTime(event) ?? this.#components.clock.now()))
      .filter(({ id }) => !known.has(id))
    if (entries.length === 0) return
    this.#feed = [...entries, ...this.#feed].slice(0, MAX_FEED_ENTRIES)
    this.#notify()
  }

  #setStatus(next: LinkStatus): void {
    this.#status = next
    this.#notify()
    this.#ready.resolve()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

async function refresh(components: LiveComponents, affected: Affected): Promise<void> {
  const { queryClient } = components
  if (affected.all) return queryClient.invalidateQueries()
  if (affected.block !== undefined) showBlock(queryClient, affected.block)
  const reads = [...affected.routes].map((id) => queryClient.invalidateQueries({ queryKey: [id] }))
  const keys = [...affected.keys].map(([bucket, changed]) => refreshKeys(components, bucket, changed))
  await Promise.all([...reads, ...keys])
}

/** A new block changes one figure of the summary, which its event tells. */
function showBlock(queryClient: QueryClient, index: number): void {
  queryClient.setQueriesData<SummaryView>({ queryKey: ['getSummary'] }, (summary) =>
    summary === undefined ? summary : { ...summary, BlockChain: index },
  )
}

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
import type { QueryClient } from '@tanstack/react-query'
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
  /** Newest first. */
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
  const { client, queryClient, clock } = components
  const listeners = new Set<() => void>()
  const ready = Promise.withResolvers<void>()
  let stopping: AbortController | undefined
  /** Where to go on after a pause. */
  let lastEventId: string | undefined
  let status: LinkStatus = { state: 'connecting' }
  let feed: readonly FeedEntry[] = []
  let gathered: ApiEvent[] = []
  let cancelFlush: (() => void) | undefined

  const changed = () => {
    for (const listener of listeners) listener()
  }
  const setStatus = (next: LinkStatus) => {
    status = next
    changed()
    ready.resolve()
  }
  const lostSince = () => (status.state === 'lost' ? status.since : clock.now())
  const onState = (state: EventsState) => {
    if (state.state === 'waiting') {
      // one that hangs was silent for a while before anybody noticed
      const silentSince = state.error?.code === 'client.timeout' ? state.heardAt : undefined
      const since = status.state === 'lost' ? status.since : (silentSince ?? clock.now())
      return setStatus({ state: 'lost', since, error: state.error })
    }
    const wasLost = status.state === 'lost'
    setStatus({ state: 'live' })
    // polled figures are old, and so is what failed meanwhile; changes come by the events that were missed
    if (wasLost) void queryClient.invalidateQueries({ predicate: ({ state }) => isOld(state) })
  }
  const isOld = ({ dataUpdatedAt, status: result }: { dataUpdatedAt: number; status: string }) =>
    result === 'error' || dataUpdatedAt === 0 || clock.now() - dataUpdatedAt > GATHER_MS
  const flush = () => {
    // what happened before the page asked is in what it read
    const affected = affectedBy(gathered.filter((event) => pastTime(event) === undefined))
    const known = new Set(feed.map(({ id }) => id))
    const entries = gathered
      .toReversed()
      .flatMap((event) => feedEntriesOf(event, pastTime(event) ?? clock.now()))
      .filter(({ id }) => !known.has(id))
    gathered = []
    cancelFlush = undefined
    if (entries.length > 0) {
      feed = [...entries, ...feed].slice(0, MAX_FEED_ENTRIES)
      changed()
    }
    void refresh(components, affected)
  }
  const listen = async (signal: AbortSignal) => {
    const from = lastEventId === undefined ? { last: EVENT_HISTORY_SIZE } : { lastEventId }
    for await (const event of client.events({ signal, onState, ...from })) {
      lastEventId = event.id || lastEventId
      gathered.push(event)
      cancelFlush ??= clock.after(GATHER_MS, flush)
    }
  }
  return {
    status: () => status,
    feed: () => feed,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ready: ready.promise,
    start() {
      if (stopping !== undefined) return
      stopping = new AbortController()
      const { signal } = stopping
      listen(signal).catch((error: unknown) => {
        if (signal.aborted) return
        const refusal = error instanceof ApiError ? error : new ApiError('client.bad_answer', String(error))
        setStatus({ state: 'refused', since: clock.now(), error: refusal })
      })
    },
    stop() {
      if (stopping === undefined) return
      stopping.abort()
      stopping = undefined
      if (cancelFlush !== undefined) {
        cancelFlush()
        flush()
      }
      if (status.state !== 'connecting') {
        setStatus({ state: 'lost', since: lostSince(), error: undefined })
      }
    },
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

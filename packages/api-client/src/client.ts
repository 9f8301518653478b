import {
  type ApiEvent,
  type PagedRouteId,
  type RouteDefinition,
  type RouteId,
  type RouteInput,
  type RouteOutput,
  type Routes,
  routes,
} from '@mesh/api-contract'
import {
  type Clock,
  parseExactJson,
  type Random,
  systemClock,
  systemRandom,
  tryParseDuration,
} from '@mesh/core'
import { ApiError, errorOfAnswer } from './api-error.ts'
import type { Asker } from './asker.ts'
import type { CallOptions, PagesOptions } from './call-options.ts'
import { type EventsOptions, readEvents } from './events.ts'
import { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS } from './limits.ts'
import { type Answered, nextOf, readPages } from './pages.ts'
import { type PlannedRequest, planRequest } from './request.ts'
import { withRetries } from './retry.ts'
import { retryAfterOf } from './retry-after.ts'

/** The part of `fetch` that is used; a browser's, Node's, or one over a unix socket. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

export interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly signal: AbortSignal
}

export interface ClientOptions {
  /** `http://127.0.0.1:8080`; empty in a page that the node itself serves. */
  readonly baseUrl?: string
  readonly fetch?: Fetch
  /** The time that a whole request may take, in ms; a `wait` is added. 30 s unless given. */
  readonly timeoutMs?: number
  /** Sent as a bearer token, also for events; a function is asked before each request. */
  readonly token?: string | (() => string | undefined)
  /**
   * How many times a call is made again that failed and may be: one that only reads, never reached the node, or was answered
   * with 429 or 503 and `Retry-After`. 2 unless given; all tries share `timeoutMs`.
   */
  readonly retries?: number
  readonly clock?: Clock
  readonly random?: Random
}

type Call<Route extends RouteDefinition> = (
  ...args: object extends RouteInput<Route>
    ? [input?: RouteInput<Route>, options?: CallOptions]
    : [input: RouteInput<Route>, options?: CallOptions]
) => Promise<RouteOutput<Route>>

/**
 * A method for each route of the contract, by its id. All reject with ApiError, or with the reason of the caller's
 * signal. Integers beyond 2^53 in values come as `bigint`.
 */
export type ApiClient = {
  readonly [Id in Exclude<RouteId, 'watchEvents'>]: Call<Routes[Id]>
} & {
  /**
   * Yields events of the node, from now or from after `lastEventId`. Reconnects until the signal aborts, which ends it
   * quietly. Leaving the loop waits for the next event. Rejects only when the node refuses with a status that a retry
   * cannot change (400 or more).
   */
  events(options?: EventsOptions): AsyncIterableIterator<ApiEvent>
  /** Reads one page. Rejects as a call. */
  page<Id extends PagedRouteId>(
    id: Id,
    input: RouteInput<Routes[Id]>,
    options?: CallOptions,
  ): Promise<Answered<RouteOutput<Routes[Id]>>>
  /**
   * Reads page by page, in the order of the pages: one request for each, made when the page is asked for. What is
   * written meanwhile may be missing or be there. A node that knows no pages gives all as one. Rejects as a call.
   */
  pages<Id extends PagedRouteId>(
    id: Id,
    input: Omit<RouteInput<Routes[Id]>, 'after' | 'limit'>,
    options?: PagesOptions,
  ): AsyncIterableIterator<RouteOutput<Routes[Id]>>
}

/** A client of one node; holds no connection and needs no end. */
export function createClient(options: ClientOptions = {}): ApiClient {
  const asker = createAsker(options)
  const client: Record<string, unknown> = {
    events: (eventsOptions: EventsOptions = {}) => readEvents(asker, eventsOptions),
    page: (id: PagedRouteId, input: Input, callOptions: CallOptions = {}) =>
      ask(asker, routes[id], input, callOptions),
    pages: (id: PagedRouteId, input: Input, pagesOptions: PagesOptions = {}) =>
      readPages(
        (page, callOptions) => ask(asker, routes[id], { ...input, ...page }, callOptions),
        pagesOptions,
      ),
  }
  for (const [id, route] of Object.entries<RouteDefinition>(routes)) {
    if (route.answer.kind === 'events') continue
    client[id] = async (input: Input = {}, callOptions: CallOptions = {}) =>
      (await ask(asker, route, input, callOptions)).value
  }
  // the loop above makes one method for each route; their types come from the same table
  return client as ApiClient
}

type Input = Readonly<Record<string, unknown>>

function createAsker(options: ClientOptions): Asker {
  const baseUrl = (options.baseUrl ?? '').replace(/\/+$/, '')
  const doFetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const { token } = options
  return {
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retries: options.retries ?? DEFAULT_RETRIES,
    async ask({ method, path, body }, headers, signal) {
      const bearer = typeof token === 'function' ? token() : token
      const common = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
      const all = { ...common, ...headers, ...typeOf(body) }
      const init = { method, headers: all, signal, ...(body !== undefined && { body }) }
      return doFetch(baseUrl + path, init).catch((cause: unknown) => {
        throw signal.aborted ? signal.reason : unreachable(baseUrl, cause)
      })
    },
  }
}

function typeOf(body: PlannedRequest['body']): Readonly<Record<string, string>> {
  if (body === undefined) return {}
  return { 'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream' }
}

async function ask(
  asker: Asker,
  route: RouteDefinition,
  input: Input,
  options: CallOptions,
): Promise<Answered> {
  const planned = planRequest(route, input)
  const wait = typeof input['wait'] === 'string' ? (tryParseDuration(input['wait']) ?? 0) : 0
  const limit = new AbortController()
  const onTime = () =>
    limit.abort(new ApiError('client.timeout', `no answer to ${planned.method} ${route.path} in time`))
  const cancel = asker.clock.after(asker.timeoutMs + wait, onTime, { keepAlive: true })
  const signal = options.signal === undefined ? limit.signal : AbortSignal.any([options.signal, limit.signal])
  const endsAt = asker.clock.monotonic() + asker.timeoutMs + wait
  try {
    const init = { retries: asker.retries, method: planned.method, endsAt, signal }
    const { status, text, headers } = await withRetries(init, asker, () => askOnce(asker, planned, signal))
    return { value: parseAnswer(route, status, text), next: nextOf(headers) }
  } finally {
    cancel()
  }
}

async function askOnce(
  asker: Asker,
  planned: PlannedRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }> {
  const response = await asker.ask(planned, {}, signal)
  const text = await response.text().catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : unreachable(planned.path, cause)
  })
  if (response.ok) return { status: response.status, text, headers: response.headers }
  throw errorOfAnswer(response.status, text, retryAfterOf(response, asker.clock))
}

function parseAnswer(route: RouteDefinition, status: number, text: string): unknown {
  if (route.answer.kind !== 'json') return text
  try {
    return route.answer.schema().parse(parseExactJson(text))
  } catch (cause) {
    throw new ApiError('client.bad_answer', `the answer of ${route.path} cannot be read`, {
      status,
      cause,
      hint: 'Check that the address is that of a mesh node, of this or a newer version.',
    })
  }
}

function unreachable(where: string, cause: unknown): ApiError {
  const reason = cause instanceof Error ? rootMessage(cause) : String(cause)
  return new ApiError('client.unreachable', `no node answers at ${where || 'this address'}: ${reason}`, {
    cause,
    hint: wasClosed(cause) ? CLOSED_HINT : 'Start the node, or check the address.',
  })
}

const CLOSED_HINT =
  'It took the connection and closed it: a node that is just ending, or one without a free file descriptor. `prlimit --pid PID --nofile=65536` allows it more while it runs.'

/** Somebody took the connection and closed it without an answer, as Node tells it; browsers do not tell. */
function wasClosed(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && (cause.code === 'EPIPE' || cause.code === 'ECONNRESET')) return true
  }
  return false
}

/** Node's fetch says only `fetch failed`; what happened is in its cause. */
function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message
}

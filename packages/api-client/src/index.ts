/**
 * A typed client of a mesh node's HTTP API, derived from the contract. Browser-safe; unix sockets under `./node`.
 *
 * @example
 * ```ts
 * import { createClient } from '@mesh/api-client'
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8080' })
 * await client.putText({ bucket: 'notes', key: 'hello', value: 'world', wait: '5s' })
 * console.log(await client.getEntry({ bucket: 'notes', key: 'hello' }))
 * ```
 */
export { ApiError, type ApiErrorInit, type ClientErrorCode } from './api-error.ts'
export type { CallOptions, PagesOptions } from './call-options.ts'
export {
  type ApiClient,
  type ClientOptions,
  createClient,
  type Fetch,
  type FetchInit,
} from './client.ts'
export type { Answered } from './pages.ts'
export type { EventsOptions, EventsState } from './events.ts'

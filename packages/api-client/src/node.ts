/**
 * Only Node has this: a client over a unix socket.
 *
 * @example
 * ```ts
 * import { createNodeClient } from '@mesh/api-client/node'
 * const client = createNodeClient({ baseUrl: 'unix:///run/mesh/api.sock' })
 * ```
 */
export { createNodeClient, unixFetch } from './node/unix-fetch.ts'

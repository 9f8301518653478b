import { Agent, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { type ApiClient, type ClientOptions, createClient, type Fetch } from '../client.ts'

const UNIX_SCHEME = 'unix://'
/** Stands for the socket in URLs; a node skips its Host check there. */
const UNIX_BASE_URL = 'http://localhost'

/**
 * Creates a client as `createClient` does, whose `baseUrl` may be `unix://PATH` (absolute, or relative to the
 * working directory).
 */
export function createNodeClient(options: ClientOptions & { readonly baseUrl: string }): ApiClient {
  if (!options.baseUrl.startsWith(UNIX_SCHEME)) return createClient(options)
  const socketPath = options.baseUrl.slice(UNIX_SCHEME.length)
  return createClient({ fetch: unixFetch(socketPath), ...options, baseUrl: UNIX_BASE_URL })
}

/** A `fetch` whose every request goes to this socket. Connections are kept; idle ones do not hold the process. */
export function unixFetch(socketPath: string): Fetch {
  const agent = new Agent({ keepAlive: true })
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const { host } = new URL(url)
      // not the URL's own pathname: that would have changed dots and escapes
      const path = url.slice(url.indexOf(host) + host.length)
      const outgoing = request({ agent, socketPath, path, method, headers: { ...headers, host }, signal })
      outgoing.on('error', (cause) => reject(new Error(`unix://${socketPath}: ${cause.message}`, { cause })))
      outgoing.on('response', (message) => resolve(toResponse(message)))
      outgoing.end(body)
    })
}

function toResponse(message: IncomingMessage): Response {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = status !== 204 && status !== 304
  if (!hasBody) message.resume()
  // the two declarations of ReadableStream, Node's and the DOM's, mean the same object
  const body = hasBody ? (Readable.toWeb(message) as unknown as ReadableStream) : null
  return new Response(body, { status, headers })
}

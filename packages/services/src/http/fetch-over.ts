/** One HTTP request over a connection to a service, in the form of `fetch`. The answer is hostile input. */
import { type IncomingMessage, request as openRequest } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { MeshError, toError } from '@mesh/core'
import { servicesError } from '../errors.ts'
import { MAX_HTTP_HEAD_BYTES, MAX_INTERIM_ANSWERS } from '../limits.ts'

/** Statuses whose answers have no body (Fetch, 2.2.6). */
const WITHOUT_BODY: readonly unknown[] = [101, 103, 204, 205, 304]

/**
 * Resolves with the head of the answer; the body comes as it is read. The connection serves this request alone, and ends
 * with its answer, or when the request's signal aborts. Redirects are answers like others.
 * @throws MeshError `services.broken`; the signal's reason
 */
export async function fetchOver(connection: Duplex, request: Request): Promise<Response> {
  const { signal } = request
  const onAbort = () => void connection.destroy(toError(signal.reason))
  connection.once('close', () => signal.removeEventListener('abort', onAbort))
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return buildResponse(await exchange(connection, request), request.method)
  } catch (cause) {
    connection.destroy()
    signal.throwIfAborted()
    if (cause instanceof MeshError) throw cause
    throw servicesError('services.broken', `the service sent no answer: ${toError(cause).message}`, { cause })
  }
}

function exchange(connection: Duplex, request: Request): Promise<IncomingMessage> {
  const { pathname, search, host } = new URL(request.url)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = openRequest({
    createConnection: () => connection,
    method: request.method,
    path: `${pathname}${search}`,
    headers: { ...Object.fromEntries(request.headers), host },
    maxHeaderSize: MAX_HTTP_HEAD_BYTES,
  })
  let interimAnswers = 0
  outgoing.on('information', () => {
    // interim answers have no backpressure: the library reads all of them
    if (++interimAnswers > MAX_INTERIM_ANSWERS) reject(new Error('too many interim answers'))
  })
  // a server that switches protocols hands the connection over, which nobody takes here
  outgoing.on('upgrade', () => reject(new Error('the service switched protocols')))
  outgoing.on('response', resolve)
  outgoing.on('error', reject)
  const { body } = request
  if (body === null) outgoing.end()
  else pipeline(Readable.fromWeb(body as ReadableStream), outgoing).catch(reject)
  return promise
}

/** @throws TypeError, RangeError for a head that `Response` does not take */
function buildResponse(incoming: IncomingMessage, method: string): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = incoming
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  const hasBody = method !== 'HEAD' && !WITHOUT_BODY.includes(status)
  if (!hasBody) incoming.resume()
  return new Response(hasBody ? (Readable.toWeb(incoming) as unknown as BodyInit) : null, {
    status,
    statusText,
    headers,
  })
}

/** One HTTP request of a client, sent on over a connection of ours, and its answer back. Node's HTTP on both sides. */
import {
  type ClientRequest,
  type IncomingMessage,
  request,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream'
import { MAX_HTTP_HEAD_BYTES } from '../limits.ts'
import { endToEnd, hasHeader } from './headers.ts'

export interface ForwardInit {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  /** `HOST` or `HOST:PORT`, as the origin should see it. */
  readonly host: string
  /** The path and the query. */
  readonly path: string
  /** How the origin is reached: an agent, or without one `createConnection`. */
  readonly connection: Pick<RequestOptions, 'agent' | 'createConnection' | 'host' | 'port'>
}

/** Resolves when the answer is over. Rejects with what kept it from beginning; what breaks it later cuts it off. */
export function forward({ incoming, response, host, path, connection }: ForwardInit): Promise<void> {
  return new Promise((resolve, reject) => {
    const isChunked = hasHeader(incoming.rawHeaders, 'transfer-encoding')
    const headers = ['Host', host, ...endToEnd(incoming.rawHeaders, ['host'])]
    // a body without a length must not look like the next request
    if (isChunked) headers.push('Transfer-Encoding', 'chunked')
    const outgoing: ClientRequest = request({
      ...connection,
      method: incoming.method,
      path,
      headers,
      setHost: false,
      maxHeaderSize: MAX_HTTP_HEAD_BYTES,
      // legacy egress nodes answer with `HTTP/2.0 200 OK` where the origin spoke that
      insecureHTTPParser: true,
    } as RequestOptions)
    outgoing.on('error', reject)
    outgoing.on('response', (answer) => {
      response.sendDate = false
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders))
      pipeline(answer, response, () => resolve())
    })
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
      resolve()
    })
    pipeline(incoming, outgoing, () => {})
  })
}

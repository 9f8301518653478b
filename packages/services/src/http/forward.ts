/** One HTTP request of a client, sent on over a connection of ours, and its answer back. Node's HTTP on both sides. */
import {
  type ClientRequest,
  type IncomingMessage,
  type InformationEvent,
  type OutgoingMessage,
  request,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream'
import { MAX_HTTP_HEAD_BYTES, MAX_INTERIM_ANSWERS, MAX_PIECES_AT_ONCE } from '../limits.ts'
import { endToEnd, hasHeader } from './headers.ts'
import { passBody } from './pass-body.ts'
import { setHeld } from '../streams/held-socket.ts'
import { StreamDuplex } from '../streams/stream-duplex.ts'

export interface ForwardInit {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  /** `HOST` or `HOST:PORT`, as the origin should see it. */
  readonly host: string
  /** The path and the query. */
  readonly path: string
  /** How the origin is reached: an agent, which is told when the client is gone, or without one `createConnection`. */
  readonly connection: Pick<RequestOptions, 'agent' | 'createConnection' | 'host' | 'port'> & {
    readonly gone?: AbortSignal
  }
  /** True: the answer comes from a legacy egress node, which says `HTTP/2.0 200 OK` where the origin spoke that. */
  readonly isLegacy?: boolean
  /** True: what the client sends behind a request without a body is left alone. */
  readonly isHeldBehind?: boolean
}

/** Methods that may reach the origin twice (RFC 9110, 9.2.1). */
const SAFE: readonly unknown[] = ['GET', 'HEAD', 'OPTIONS']

/** Resolves when the answer is over. Rejects with what kept it from beginning; what breaks it later cuts it off. */
export function forward(init: ForwardInit): Promise<void> {
  const { incoming, response } = init
  if (response.destroyed) return Promise.reject(new Error('the client left'))
  const isChunked = hasHeader(incoming.rawHeaders, 'transfer-encoding')
  const hasBody = isChunked || hasHeader(incoming.rawHeaders, 'content-length')
  return new Promise((resolve, reject) => {
    const outgoing = open(init, isChunked)
    let isAnswered = false
    outgoing.on('error', (error) => {
      // the origin may have ended an idle connection at the moment when the request was sent
      const mayBeStale = outgoing.reusedSocket && !isAnswered && !hasBody && SAFE.includes(incoming.method)
      if (mayBeStale && !response.destroyed) forward(init).then(resolve, reject)
      else reject(error)
    })
    let interimAnswers = 0
    outgoing.on('information', (information) => {
      // nothing slows these down: the library reads on whatever becomes of them
      if (++interimAnswers > MAX_INTERIM_ANSWERS) outgoing.destroy(new Error('too many interim answers'))
      else passHints(information, init)
    })
    outgoing.on('response', (answer) => {
      isAnswered = true
      passOn(answer, response)
    })
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy()
      resolve()
    })
    passTrailers(incoming, outgoing)
    if (hasBody || init.isHeldBehind !== true) setHeld(incoming.socket, false)
    if (!hasBody) outgoing.end()
    else if ((incoming.socket as unknown) instanceof StreamDuplex)
      passBody(incoming, outgoing, MAX_PIECES_AT_ONCE)
    else pipeline(incoming, outgoing, () => {})
  })
}

function open(
  { incoming, host, path, connection, isLegacy = false }: ForwardInit,
  isChunked: boolean,
): ClientRequest {
  const headers = ['Host', host, ...endToEnd(incoming.rawHeaders, ['host'])]
  // a body without a length must not look like the next request
  if (isChunked) headers.push('Transfer-Encoding', 'chunked')
  return request({
    ...connection,
    method: incoming.method,
    path,
    headers,
    setHost: false,
    maxHeaderSize: MAX_HTTP_HEAD_BYTES,
    insecureHTTPParser: isLegacy,
  } as RequestOptions)
}

/** Costs half of what `pipeline` does, which is felt with short answers. */
function passOn(answer: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false
  // of two lengths that differ the client would take another one, and the rest for the answer of another origin
  const without = hasHeader(answer.rawHeaders, 'transfer-encoding') ? ['content-length'] : []
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders, without))
  answer.on('error', () => {})
  // an answer that broke off must not look whole
  answer.on('close', () => {
    if (!answer.complete) response.destroy()
  })
  passTrailers(answer, response)
  passBody(answer, response)
}

/** Fields behind a body, which travel only where the other side gets it in chunks, too. */
function passTrailers(from: IncomingMessage, to: OutgoingMessage): void {
  from.once('end', () => {
    // what says how a message is framed, or for whom it is, stands in its head
    const fields = endToEnd(from.rawTrailers, ['content-length', 'host'])
    const pairs = fields.flatMap((name, at): [string, string][] =>
      at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : [],
    )
    if (pairs.length > 0 && !to.writableEnded) to.addTrailers(pairs)
  })
}

/** Passes on what a page will need, which an origin tells while it still works on the answer (103). */
function passHints(
  { statusCode, headers }: InformationEvent,
  { incoming, response }: Pick<ForwardInit, 'incoming' | 'response'>,
): void {
  const { link } = headers
  if (statusCode !== EARLY_HINTS || link === undefined) return
  if (incoming.httpVersion !== '1.1' || response.headersSent) return
  // a client that does not read needs none
  if ((response.socket?.writableLength ?? 0) > 0) return
  try {
    response.writeEarlyHints({ link })
  } catch {
    // Node takes fewer forms of a link than origins send
  }
}

const EARLY_HINTS = 103

/**
 * One HTTP/1.1 request over a stream to a service, in the form of `fetch`. Browsers have no HTTP for a stream of a
 * page's own. The answer is hostile input.
 */
import { MeshError, toError } from '@mesh/core'
import type { OpenedStream } from '@mesh/services/client'
import { MAX_INTERIM_ANSWERS } from '../limits.ts'
import { readBody } from './answer-body.ts'
import { type AnswerHead, bodyLengthOf, readHead } from './answer-head.ts'
import { StreamReader } from './stream-reader.ts'

/** Statuses whose answers have no body (Fetch, 2.2.6). */
const WITHOUT_BODY: readonly number[] = [204, 205, 304]

/**
 * Resolves with the head of the answer; the body comes as it is read. The stream serves this request alone, and ends
 * with its answer, or when the request's signal aborts. Redirects are answers like others.
 * @throws MeshError `services.broken`; the signal's reason
 */
export async function fetchStream(opened: OpenedStream, request: Request): Promise<Response> {
  const { stream } = opened
  const { signal } = request
  const onAbort = () => stream.abort(toError(signal.reason))
  signal.addEventListener('abort', onAbort, { once: true })
  const finish = () => {
    signal.removeEventListener('abort', onAbort)
    stream.close()
  }
  try {
    signal.throwIfAborted()
    const reader = new StreamReader(opened)
    await sendRequest(stream, request)
    const head = await readFinalHead(reader)
    const hasBody = request.method !== 'HEAD' && !WITHOUT_BODY.includes(head.status)
    const body = hasBody ? bodyOf(reader, head, finish) : null
    if (!hasBody) finish()
    const headers = head.headers.map(([name, value]): [string, string] => [name, value])
    return new Response(body, { status: head.status, statusText: head.statusText, headers })
  } catch (cause) {
    signal.removeEventListener('abort', onAbort)
    stream.abort(toError(cause))
    signal.throwIfAborted()
    throw new MeshError('services.broken', `the service sent no answer: ${toError(cause).message}`, { cause })
  }
}

async function sendRequest(stream: OpenedStream['stream'], request: Request): Promise<void> {
  const { pathname, search, host } = new URL(request.url)
  const body = new Uint8Array(await request.arrayBuffer())
  const hasBody = body.length > 0 || request.method === 'POST' || request.method === 'PUT'
  const lines = [
    `${request.method} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    'connection: close',
    ...(hasBody ? [`content-length: ${body.length}`] : []),
    ...[...request.headers]
      .filter(([name]) => !OWN_HEADERS.includes(name))
      .map(([name, value]) => `${name}: ${value}`),
  ]
  // a header holds one byte in each character
  stream.send(Uint8Array.from(`${lines.join('\r\n')}\r\n\r\n`, (sign) => sign.charCodeAt(0)))
  if (body.length > 0) stream.send(body)
}

/** Headers that say how the request is sent, which the page does not decide. */
const OWN_HEADERS: readonly string[] = ['host', 'connection', 'content-length', 'transfer-encoding', 'expect']

async function readFinalHead(reader: StreamReader): Promise<AnswerHead> {
  for (let interim = 0; interim <= MAX_INTERIM_ANSWERS; interim++) {
    const head = await readHead(reader)
    if (head.status === 101) throw new Error('the service switched protocols')
    if (head.status >= 200) return head
  }
  throw new Error('too many interim answers')
}

function bodyOf(reader: StreamReader, head: AnswerHead, finish: () => void): ReadableStream<Uint8Array> {
  const pieces = readBody(reader, bodyLengthOf(head))
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next()
          if (done !== true) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        finish()
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  )
}

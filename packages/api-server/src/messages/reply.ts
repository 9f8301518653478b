/** Writes answers. Everything that leaves, leaves here, so that no answer lacks its headers. */
import type { ServerResponse } from 'node:http'
import { errorCatalogue, retryAfterSecondsOf } from '@mesh/api-contract'
import { stringifyExactJson } from '@mesh/core'
import type { Request, Response } from 'express'
import { indentJson } from './indent-json.ts'
import { type LargeAnswerComponents, sendPieces } from './large-answer.ts'
import { type Problem, problemBody } from './problem.ts'

const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
} as const

/** Headers for all but the web page: nothing may load or frame it. */
export const API_HEADERS = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
} as const

/** Headers for the web page: its own files, styles and calls, and nothing from elsewhere. */
export const PAGE_HEADERS = pageHeaders([])

/** The same for a page that connects to other origins beside its own. */
export function pageHeaders(origins: readonly string[]) {
  return {
    ...COMMON_HEADERS,
    'Content-Security-Policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
      `connect-src ${["'self'", ...origins].join(' ')}; manifest-src 'self'; worker-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
  } as const
}

/** A body made before, or that is no JSON; a large one comes in pieces, and is never indented. */
export interface Prepared {
  readonly body: Buffer | string | Iterable<string>
  readonly type?: string
  /** An ETag, with which the answer may be kept by its reader, who asks whether it still holds. */
  readonly etag?: string
  /** The `after` of the page that follows; undefined when none does. */
  readonly next?: string | undefined
}

const JSON_TYPE = 'application/json'

export function sendJson(req: Request, res: Response, value: unknown): void {
  const body = `${stringifyExactJson(value)}\n`
  const text = isPretty(req) ? indentJson(body) : body
  res
    .writeHead(200, { ...API_HEADERS, 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) })
    .end(text)
}

export async function send(
  req: Request,
  res: Response,
  { body, type = JSON_TYPE, etag, next }: Prepared,
  large: LargeAnswerComponents,
): Promise<void> {
  const kept = etag === undefined ? {} : { ETag: etag, 'Cache-Control': 'private, no-cache' }
  if (etag !== undefined && req.headers['if-none-match'] !== undefined) {
    res.setHeader('ETag', etag)
    if (req.fresh) {
      res.writeHead(304, { ...API_HEADERS, ...kept }).end()
      return
    }
  }
  const headers = {
    ...API_HEADERS,
    ...kept,
    ...(next !== undefined && { Link: `<${nextPage(req.url, next)}>; rel="next"` }),
    'Content-Type': type,
  }
  if (isWhole(body)) {
    const pretty = type === JSON_TYPE && isPretty(req) ? indentJson(body.toString()) : body
    res.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(pretty) }).end(pretty)
  } else await sendPieces({ req, res, headers }, body, large)
}

/** The same request for the page that begins after `after`. */
function nextPage(url: string, after: string): string {
  const { path, search } = splitTarget(url)
  const query = new URLSearchParams(search)
  query.set('after', after)
  return `${path}?${query.toString()}`
}

function isWhole(body: Prepared['body']): body is Buffer | string {
  return typeof body === 'string' || Buffer.isBuffer(body)
}

/** Nothing if the connection is gone or an answer has begun: then the connection is cut. */
export function sendProblem(res: ServerResponse, problem: Problem, requestId: string): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  const { status, headers, body } = problemAnswer(problem, requestId)
  for (const name of ['ETag', 'Content-Type']) res.removeHeader(name)
  res.writeHead(status, headers).end(body)
}

/** The bytes of an answer to what is no request, which ends the connection. */
export function rawProblem(problem: Problem, requestId: string): string {
  const { status, headers, body } = problemAnswer(problem, requestId)
  const all = Object.entries({ ...headers, Connection: 'close' })
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status} ${problem.code}\r\n${lines}\r\n${body}`
}

function problemAnswer(problem: Problem, requestId: string) {
  const body = `${JSON.stringify(problemBody(problem, requestId))}\n`
  const retryAfter = retryAfterSecondsOf(problem.code)
  const headers = {
    ...API_HEADERS,
    'Content-Type': JSON_TYPE,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-ID': requestId,
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    ...problem.headers,
  }
  return { status: errorCatalogue[problem.code].status, headers, body }
}

/** Asked for indented JSON: `?pretty`, as EdgeVPN takes it, too. */
function isPretty(req: Request): boolean {
  const { search } = splitTarget(req.url)
  return search.includes('pretty') && new URLSearchParams(search).has('pretty')
}

/** Path and query as sent. */
export function splitTarget(url: string): { readonly path: string; readonly search: string } {
  const mark = url.indexOf('?')
  return mark === -1 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) }
}

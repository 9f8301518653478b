/** The head of a request as it came: its target made one form, or refused. Runs before any route sees it. */
import type { IncomingMessage } from 'node:http'
import { MAX_PATH_BYTES } from '@mesh/api-contract'
import { MAX_HEADER_LINES, MAX_QUERY_PARAMETERS } from '../limits.ts'
import { issue, Problem } from './problem.ts'
import { splitTarget } from './reply.ts'

const ABSOLUTE = /^https?:\/\/([^/?#]*)/i

/**
 * Changes `req.url` to path and query, and the Host to that of an absolute target.
 * @throws Problem `http.path_too_long`, `http.headers_too_large`, `http.bad_path`, `http.bad_query`
 */
export function readHead(req: IncomingMessage): void {
  checkHeaders(req.rawHeaders)
  const raw = req.url ?? ''
  // OPTIONS of the whole server
  if (raw === '*' && req.method === 'OPTIONS') {
    req.url = '/'
    return
  }
  const { url, authority } = parseTarget(raw)
  req.url = url
  if (authority !== undefined) req.headers.host = authority
}

function checkHeaders(rawHeaders: readonly string[]): void {
  const lines = rawHeaders.length / 2
  if (lines < MAX_HEADER_LINES) return
  throw new Problem('http.headers_too_large', `the headers have ${lines} lines`, {
    issues: [issue('headers', `${lines} lines`, `fewer than ${MAX_HEADER_LINES} lines`)],
  })
}

function parseTarget(raw: string): { readonly url: string; readonly authority: string | undefined } {
  if (raw.length > MAX_PATH_BYTES) {
    throw new Problem('http.path_too_long', `the path has ${raw.length} bytes, ${MAX_PATH_BYTES} are taken`, {
      issues: [issue('path', raw, `at most ${MAX_PATH_BYTES} bytes`)],
    })
  }
  const authority = ABSOLUTE.exec(raw)
  const rest = authority === null ? raw : raw.slice(authority[0].length)
  const url = rest.startsWith('/') ? rest : `/${rest}`
  if (authority === null && !raw.startsWith('/')) throw badPath(raw, 'a path that begins with /')
  const { path, search } = splitTarget(url)
  checkQuery(search)
  checkPath(path)
  return { url, authority: authority?.[1] }
}

/** Every escape is valid, stands for UTF-8 and not for NUL; no segment but the last is empty. */
function checkPath(path: string): void {
  if (path.includes('#')) throw badPath(path, 'no # (send %23)')
  if (!path.includes('%')) return
  try {
    if (!decodeURIComponent(path).includes('\0')) return
  } catch {
    throw badPath(path, 'escapes of two hexadecimal digits that stand for UTF-8')
  }
  throw badPath(path, 'no %00')
}

function checkQuery(search: string): void {
  let parameters = 1
  for (let at = search.indexOf('&'); at !== -1; at = search.indexOf('&', at + 1)) parameters++
  if (parameters <= MAX_QUERY_PARAMETERS) return
  const expected = `at most ${MAX_QUERY_PARAMETERS} parameters`
  throw new Problem('http.bad_query', `the query has ${parameters} parameters: expected ${expected}`, {
    issues: [issue('query', search, expected)],
  })
}

/** Thrown where no route takes the path: an empty segment that a name should stand in is said to be that. */
export function emptySegment(path: string): Problem | undefined {
  const isInside = path.slice(0, -1).includes('//')
  const isName = /^\/api\/(ledger|blockchain|metrics\/(peer|protocol))\/(.*\/)?$/.test(path)
  return isInside || isName ? badPath(path, 'no empty segment') : undefined
}

function badPath(path: string, expected: string): Problem {
  return new Problem('http.bad_path', `the path cannot be used: expected ${expected}`, {
    issues: [issue('path', path, expected)],
  })
}

/**
 * Keeps web pages of others out of a node that listens on TCP, loopback included:
 * 1. the Host must be a name that no stranger can point at this node (DNS rebinding),
 * 2. a page that asks must be this node's own (cross-site requests).
 * Programs like curl send neither Origin nor Sec-Fetch-Site and are not affected.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { issue, Problem } from '../messages/problem.ts'

export interface GuardInit {
  /** `--api-allowed-host`: served as Host, and pages from there may ask. */
  readonly allowedHosts?: readonly string[]
  /** This machine's own names, and this node's name in its zone. */
  readonly ownNames?: readonly string[]
  /** `--api-cors`: pages of these origins may ask across sites. */
  readonly corsOrigins?: readonly string[]
}

export interface Guard {
  /** @throws Problem `http.bad_request`, `http.wrong_host` */
  checkHost(req: IncomingMessage): void
  /**
   * Sets CORS headers where they are due.
   * @throws Problem `http.cross_site`
   */
  checkOrigin(req: IncomingMessage, res: ServerResponse): void
}

export function createGuard(init: GuardInit): Guard {
  const allowed = new Set((init.allowedHosts ?? []).map(normalName))
  const served = new Set([...allowed, ...(init.ownNames ?? []).map(normalName), 'localhost'])
  const cors = new Set(init.corsOrigins)
  return {
    checkHost(req) {
      const asked = hostOf(req)
      if (asked === undefined) return
      const name = nameOf(asked)
      if (name === undefined) throw new Problem('http.bad_request', undefined, { issues: [badHost(asked)] })
      if (served.has(name) || isIP(name) !== 0 || !name.includes('.')) return
      throw new Problem('http.wrong_host', `this node does not answer to the name ${JSON.stringify(asked)}`, {
        hint: `Ask by IP address or localhost, or allow the name with --api-allowed-host ${name}.`,
        issues: [issue('Host', asked, 'localhost, an IP address, or an allowed name')],
      })
    },
    checkOrigin(req, res) {
      const { origin } = req.headers
      const site = req.headers['sec-fetch-site']
      if (origin !== undefined && cors.has(origin)) return allowCors(req, res, origin)
      if (origin !== undefined && !isOwnOrigin(origin, req.headers.host) && !isAllowed(origin, allowed)) {
        throw crossSite('Origin', origin)
      }
      if (site !== undefined && site !== 'same-origin' && site !== 'none') {
        throw crossSite('Sec-Fetch-Site', String(site))
      }
    },
  }
}

/** Gives the name or address in the Host of a request, IPv6 without brackets; undefined without a usable one. */
export function hostNameOf({ headers: { host = '' } }: IncomingMessage): string | undefined {
  return nameOf(host)
}

/** Undefined for HTTP/1.0 without a Host, which no browser sends. */
function hostOf(req: IncomingMessage): string | undefined {
  const { rawHeaders } = req
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host')
  if (hosts.length === 1 || (hosts.length === 0 && req.httpVersion === '1.0')) return req.headers.host
  throw new Problem('http.bad_request', 'a request has exactly one Host header', {
    issues: [issue('Host', hosts.join(', '), 'exactly one Host header')],
  })
}

/** The name or address in `name:port`, IPv6 without brackets; undefined when it has another form. */
function nameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{0,5})?$/i.exec(host)
  if (match === null) return undefined
  if (match[1] !== undefined) return isIP(match[1]) === 6 ? match[1] : undefined
  return normalName(match[2] ?? '') || undefined
}

function normalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** This API speaks plain HTTP; behind a proxy that does TLS, the proxy's name is an allowed host. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const own = tryParseUrl(`http://${host ?? ''}`)
  return own !== undefined && tryParseUrl(origin)?.origin === own.origin
}

function isAllowed(origin: string, allowed: ReadonlySet<string>): boolean {
  const url = tryParseUrl(origin)
  return url !== undefined && /^https?:$/.test(url.protocol) && allowed.has(normalName(url.hostname))
}

function tryParseUrl(text: string): URL | undefined {
  return URL.parse(text) ?? undefined
}

function allowCors(req: IncomingMessage, res: ServerResponse, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin)
  res.setHeader('Vary', 'Origin')
  res.setHeader('Access-Control-Expose-Headers', 'ETag, Link, X-Request-ID, Retry-After, WWW-Authenticate')
  if (req.method !== 'OPTIONS') return
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, PUT, POST, DELETE')
  res.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, If-None-Match, Last-Event-ID')
  res.setHeader('Access-Control-Max-Age', '600')
}

function crossSite(field: string, value: string): Problem {
  return new Problem(
    'http.cross_site',
    `another web page asked for this (${field}: ${value.slice(0, 200)})`,
    {
      issues: [issue(field, value, 'the page of this node itself')],
    },
  )
}

function badHost(host: string) {
  return issue('Host', host, 'NAME, NAME:PORT, ADDRESS:PORT or [IPv6]:PORT')
}

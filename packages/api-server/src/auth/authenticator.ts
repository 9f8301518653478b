/**
 * Lets requests in by their token, where the node asks for one. A request meets, in this order:
 * 1 a route that is open to all, 2 is there a token, 3 were there too many wrong ones, 4 is it a right one, 5 is it good
 * for this route, 6 is the API for reading only.
 */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { AccessLevel } from '@mesh/api-contract'
import type { Clock } from '@mesh/core'
import { issue, Problem } from '../messages/problem.ts'
import { MAX_TOKEN_CHARS } from '../limits.ts'
import type { TokensPort } from '../ports.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { type ApiToken, digestOf, isEnough, isMadeToken } from './token-list.ts'

export interface AuthenticatorInit {
  /** Undefined: everybody who reaches the listener is let in. */
  readonly tokens: TokensPort | undefined
  /** Writes are refused, whoever asks. */
  readonly isReadOnly: boolean
}

/** Tells whether what was let in would be let in still: the token may have been revoked since. */
export type StillAllowed = () => boolean

export interface Authenticator {
  /** @throws Problem `http.unauthorized`, `http.too_many_failures`, `http.level_too_low`, `http.read_only` */
  check(req: IncomingMessage, level: AccessLevel): StillAllowed
}

/** Lets everybody in: for the control socket, whose owner is whom the files of the node belong to. */
export const openToAll: Authenticator = { check: () => () => true }

export function createAuthenticator({ tokens, isReadOnly }: AuthenticatorInit, clock: Clock): Authenticator {
  const failures = new FailedAttempts(clock)
  const find = (req: IncomingMessage, port: TokensPort): ApiToken => {
    const token = bearerOf(req)
    if (token === undefined) throw unauthorized()
    const address = req.socket.remoteAddress ?? ''
    const blockedMs = isMadeToken(token) ? 0 : failures.blockedMs(address)
    if (blockedMs > 0) throw tooManyFailures(blockedMs)
    const digest = digestOf(token)
    const known = findToken(port.current(), digest)
    if (known === undefined) {
      failures.failed(address, Buffer.from(digest).toString('hex'))
      throw unauthorized('invalid_token')
    }
    failures.succeeded(address)
    return known
  }
  return {
    check(req, level) {
      if (level === 'open') return () => true
      const known = tokens === undefined ? undefined : find(req, tokens)
      if (known !== undefined && !isEnough(known.level, level)) throw levelTooLow(known, level)
      if (isReadOnly && !isReading(req)) throw new Problem('http.read_only')
      return () => known === undefined || isStillGood(tokens?.current() ?? [], known, level)
    },
  }
}

function isStillGood(tokens: readonly ApiToken[], { digest }: ApiToken, level: AccessLevel): boolean {
  const now = findToken(tokens, digest)
  return now !== undefined && isEnough(now.level, level)
}

/** Compares with every token, so that the time tells nothing; of the same token twice the first line counts. */
function findToken(tokens: readonly ApiToken[], digest: Uint8Array): ApiToken | undefined {
  let found: ApiToken | undefined
  for (const token of tokens) {
    if (timingSafeEqual(token.digest, digest)) found ??= token
  }
  return found
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function bearerOf({ headers }: IncomingMessage): string | undefined {
  const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  return token !== undefined && token.length <= MAX_TOKEN_CHARS ? token : undefined
}

function unauthorized(error?: 'invalid_token'): Problem {
  const message = error === undefined ? undefined : 'This node does not know the token'
  const challenge = error === undefined ? '' : `, error="${error}"`
  return new Problem('http.unauthorized', message, {
    headers: { 'WWW-Authenticate': `Bearer realm="mesh"${challenge}` },
  })
}

function tooManyFailures(blockedMs: number): Problem {
  return new Problem('http.too_many_failures', undefined, {
    headers: { 'Retry-After': String(Math.ceil(blockedMs / 1_000)) },
  })
}

function levelTooLow({ level }: ApiToken, needed: AccessLevel): Problem {
  return new Problem(
    'http.level_too_low',
    `this needs a token of the level ${needed}, and this one has ${level}`,
    {
      headers: { 'WWW-Authenticate': `Bearer realm="mesh", error="insufficient_scope", scope="${needed}"` },
      issues: [issue('Authorization', level, `a token of the level ${needed}`)],
    },
  )
}

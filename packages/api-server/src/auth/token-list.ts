/**
 * The API's tokens, one line each: `LEVEL TOKEN [NAME]`, or `LEVEL sha256:HEX NAME`, from which nobody can get the token
 * back. Empty lines and lines that begin with # count for nothing.
 */
import { createHash } from 'node:crypto'
import type { AccessLevel } from '@mesh/api-contract'
import type { Issue, Random } from '@mesh/core'
import { MAX_API_TOKENS, MAX_TOKEN_CHARS, TOKEN_BYTES } from '../limits.ts'

/** The levels that a token may have. */
export type TokenLevel = Exclude<AccessLevel, 'open'>

/** One token that the API takes. */
export interface ApiToken {
  readonly level: TokenLevel
  /** SHA-256 of the token, 32 bytes. A made token has 256 random bits, so that a slow hash would protect nothing more. */
  readonly digest: Uint8Array
  /** The name that people call it by; empty where its line gives none. */
  readonly name: string
  /** The token itself, where its line holds it. */
  readonly plain: string | undefined
}

/** The content of a file of tokens. */
export interface TokenList {
  readonly tokens: readonly ApiToken[]
  /** Lines that are none, by their number; they let nobody in. */
  readonly issues: readonly Issue[]
}

/** The levels, each good for those before it, too. */
export const TOKEN_LEVELS = ['read', 'write', 'admin'] as const satisfies readonly TokenLevel[]

const MADE_PREFIX = 'mesh_'
const MADE_TOKEN = /^mesh_[A-Za-z0-9_-]{43}$/
/** The form of a token that RFC 6750 lets stand in a header. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const DIGEST = /^sha256:([0-9a-f]{64})$/i
const EXPECTED = 'LEVEL TOKEN [NAME], LEVEL one of read, write, admin'

/** Reads a file's text; the text of a line that is wrong is not shown, since it may hold a token. */
export function parseTokenList(text: string): TokenList {
  const tokens: ApiToken[] = []
  const issues: Issue[] = []
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const token = tokens.length < MAX_API_TOKENS ? parseTokenLine(line) : undefined
    if (token !== undefined) tokens.push(token)
    else issues.push({ field: `line ${at + 1}`, value: '', expected: EXPECTED })
  }
  return { tokens, issues }
}

/** Undefined for a line that is none. */
export function parseTokenLine(line: string): ApiToken | undefined {
  const [levelText, secret = '', ...nameWords] = line.trim().split(/\s+/)
  const level = TOKEN_LEVELS.find((each) => each === levelText)
  if (level === undefined) return undefined
  const name = nameWords.join(' ')
  const hex = DIGEST.exec(secret)?.[1]
  if (hex !== undefined) return { level, digest: Buffer.from(hex, 'hex'), name, plain: undefined }
  if (!isTokenText(secret)) return undefined
  return { level, digest: digestOf(secret), name, plain: secret }
}

/** Makes a token, and the line that stands for it without holding it. */
export function createToken(
  { level, name }: Pick<ApiToken, 'level' | 'name'>,
  random: Random,
): { readonly token: string; readonly line: string } {
  const token = MADE_PREFIX + Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
  return { token, line: `${level} sha256:${Buffer.from(digestOf(token)).toString('hex')} ${name}` }
}

/** Can it be sent as a token? */
export function isTokenText(text: string): boolean {
  return text.length <= MAX_TOKEN_CHARS && TOKEN.test(text)
}

/** Has it the form of the tokens that are made here, which nobody can guess? */
export function isMadeToken(token: string): boolean {
  return MADE_TOKEN.test(token)
}

export function digestOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** Is `held` good for what needs `needed`? */
export function isEnough(held: TokenLevel, needed: AccessLevel): boolean {
  return needed === 'open' || TOKEN_LEVELS.indexOf(held) >= TOKEN_LEVELS.indexOf(needed)
}

/** Builds method, URL and body from a route of the contract and its input. Pure. */
import type { RouteDefinition } from '@mesh/api-contract'
import { stringifyExactJson } from '@mesh/core'
import { ApiError } from './api-error.ts'

export interface PlannedRequest {
  readonly method: string
  /** Path and query, encoded. */
  readonly path: string
  readonly body: string | Uint8Array<ArrayBuffer> | undefined
}

type Input = Readonly<Record<string, unknown>>

export function planRequest(route: RouteDefinition, input: Input): PlannedRequest {
  const path = route.path.replaceAll(/[:*](\w+)/g, (_match, name: string) => encodeName(name, input[name]))
  const query = new URLSearchParams()
  for (const name of Object.keys(route.query?.shape ?? {})) {
    // nodes differ in what they answer when nobody says
    const value = input[name] ?? (name === 'values' ? 'json' : undefined)
    if (typeof value === 'string') query.set(name, value)
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`
  return { method: route.method, path: path + search, body: bodyOf(route, input['body']) }
}

/** One path segment. URL libraries swallow `.` and `..` however they are written, so these are refused. */
function encodeName(field: string, value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  if (text !== '' && text !== '.' && text !== '..' && text.isWellFormed()) return encodeURIComponent(text)
  throw new ApiError('client.bad_name', `${field} cannot be ${JSON.stringify(value) ?? 'left out'}`, {
    hint: 'Names in paths are not empty, not . and not .., and are whole Unicode text.',
    issues: [{ field, value: text, expected: 'text that can stand in a URL' }],
  })
}

function bodyOf(route: RouteDefinition, body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (route.takesBytes === true && body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>
  return route.body && encodeBody(body)
}

function encodeBody(body: unknown): string {
  const text = stringifyExactJson(body)
  if (typeof text === 'string') return text
  throw new ApiError('client.bad_name', 'body is not a JSON value', {
    issues: [{ field: 'body', value: typeof body, expected: 'a JSON value' }],
  })
}

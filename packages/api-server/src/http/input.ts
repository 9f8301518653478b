/** Parses what a request says once, by the contract's schemas. */
import type { RouteDefinition } from '@mesh/api-contract'
import type { Issue } from '@mesh/core'
import type { Request } from 'express'
import type { JsonBody } from './body.ts'
import { MAX_ISSUES } from '../limits.ts'
import { issue, Problem } from '../messages/problem.ts'
import { splitTarget } from '../messages/reply.ts'

/** @throws Problem `http.bad_path`, `http.bad_query`, `http.bad_body` */
export function parseInput(route: RouteDefinition, req: Request, body: JsonBody | undefined): object {
  return {
    ...(route.params && parse(route.params, pathParameters(req), 'http.bad_path')),
    ...(route.query && parse(route.query, queryParameters(req), 'http.bad_query')),
    ...(route.body && { body: parse(route.body, body?.value, 'http.bad_body') }),
  }
}

/** Express decodes each segment once; of the rest of a path it gives a list. */
function pathParameters(req: Request): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = Object.create(null)
  for (const name in req.params) {
    const value = req.params[name] ?? ''
    parameters[name] = typeof value === 'string' ? value : value.join('/')
  }
  return parameters
}

/** Given twice, the first counts. */
function queryParameters(req: Request): Readonly<Record<string, string>> {
  const parameters: Record<string, string> = Object.create(null)
  const { search } = splitTarget(req.url)
  if (search === '') return parameters
  for (const [name, value] of new URLSearchParams(search)) parameters[name] ??= value
  return parameters
}

type InputCode = 'http.bad_path' | 'http.bad_query' | 'http.bad_body'
type Schema = NonNullable<RouteDefinition['body']>
type SchemaIssue = NonNullable<ReturnType<Schema['safeParse']>['error']>['issues'][number]

function parse<Given extends Schema>(
  schema: Given,
  value: unknown,
  code: InputCode,
): ReturnType<Given['parse']> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data as ReturnType<Given['parse']>
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map((each) => toIssue(each, value))
  const [first] = issues
  throw new Problem(code, `${first?.field ?? 'it'} must be ${first?.expected ?? 'something else'}`, {
    issues,
  })
}

function toIssue(wrong: SchemaIssue, value: unknown): Issue {
  const found = wrong.path.reduce<unknown>(
    (inner, name) => (inner as Readonly<Record<PropertyKey, unknown>> | undefined)?.[name],
    value,
  )
  return issue(wrong.path.map(String).join('.') || 'body', found, expectation(wrong))
}

/** Zod's own words for our own schemas' few kinds of wrong input. */
function expectation(wrong: SchemaIssue): string {
  if (wrong.code === 'invalid_type') return wrong.expected
  if (wrong.code === 'invalid_value') return wrong.values.map(String).join(' or ')
  // a schema may have words of its own
  const isZods = /^Too (big|small)/.test(wrong.message)
  if (isZods && wrong.code === 'too_big' && wrong.origin === 'string')
    return `at most ${wrong.maximum} characters`
  if (isZods && wrong.code === 'too_small' && wrong.origin === 'string')
    return wrong.minimum === 1 ? 'not empty' : `at least ${wrong.minimum} characters`
  return wrong.message
}

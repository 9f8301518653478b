/** Checks a policy field by field; what is wrong is told with the field, its value and the expected form. */
import { findNearest, type Issue, printable } from '@mesh/core'
import type { core } from 'zod'
import { trustError } from '../errors.ts'
import { MAX_POLICY_ISSUES } from '../limits.ts'
import { type Policy, policySchema } from './policy-schema.ts'
import { parseTerm } from './terms.ts'

/** The fields that a policy, a rule or a test can have. */
const FIELDS = ['default', 'groups', 'tags', 'allow', 'tests', 'from', 'to', 'on', 'expect']

/** Checks a policy that is parsed already. @throws MeshError `trust.bad_policy` */
export function checkPolicy(value: unknown): Policy {
  const parsed = policySchema().safeParse(value)
  if (!parsed.success) {
    const { issues } = parsed.error
    const described = issues.slice(0, MAX_POLICY_ISSUES).flatMap((issue) => describe(issue, value))
    throw badPolicy(described, issues.length - MAX_POLICY_ISSUES)
  }
  const { $schema: _, ...policy } = parsed.data
  const unknown = unknownGroups(policy)
  if (unknown.length > 0) throw badPolicy(unknown)
  return policy
}

/** Makes the error that lists what is wrong with a policy. @param left the number of faults that are not among the issues */
export function badPolicy(issues: readonly Issue[], left = 0) {
  const more = Math.max(0, left) + Math.max(0, issues.length - MAX_POLICY_ISSUES)
  return trustError('trust.bad_policy', 'the policy has faults', {
    issues: issues.slice(0, MAX_POLICY_ISSUES),
    hint: `${more > 0 ? `${more} more faults are not shown. ` : ''}docs/access-rules.md has all forms.`,
  })
}

function describe(issue: core.$ZodIssue, value: unknown): readonly Issue[] {
  const field = fieldOf(issue.path)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MAX_POLICY_ISSUES).map((key) => ({
      field: fieldOf([...issue.path, key]),
      expected: nearestHint(key, FIELDS) ?? issue.message,
    }))
  }
  const inner = issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined
  const shown = issue.code === 'invalid_key' ? issue.path.at(-1) : valueAt(value, issue.path)
  return [{ field, value: textOf(shown), expected: inner ?? issue.message }]
}

function unknownGroups({ groups, tags, allow }: Policy): readonly Issue[] {
  const issues: Issue[] = []
  const check = (text: string, field: string) => {
    const term = parseTerm(text)
    if (term?.kind !== 'group' && term?.kind !== 'tag') return
    const known = term.kind === 'group' ? groups : tags
    if (Object.hasOwn(known, term.name)) return
    const expected =
      nearestHint(term.name, Object.keys(known)) ?? `a ${term.kind} that the policy has under ${term.kind}s`
    issues.push({ field, value: text, expected })
  }
  for (const [at, { from, to }] of allow.entries()) {
    for (const [place, text] of from.entries()) check(text, fieldOf(['allow', at, 'from', place]))
    for (const [place, text] of to.entries()) check(text, fieldOf(['allow', at, 'to', place]))
  }
  return issues
}

/** 'did you mean NAME?', where a known name is near. */
export function nearestHint(word: string, known: Iterable<string>): string | undefined {
  const nearest = findNearest(word.slice(0, 64), known)
  return nearest === undefined ? undefined : `did you mean ${nearest}?`
}

/** `allow[2].from[0]`: rules and words count from 0 as in JSON. */
export function fieldOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`
    const name = printable(String(step)).slice(0, 64)
    return before === '' ? name : `${before}.${name}`
  }, '')
  return text === '' ? 'policy' : text
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const step of path) at = (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[step]
  return at
}

function textOf(value: unknown): string {
  const text = value === undefined ? '(nothing)' : typeof value === 'string' ? value : JSON.stringify(value)
  return printable(text).slice(0, 80)
}

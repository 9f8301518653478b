import { expect, test } from 'vitest'
import { policyJsonSchema } from './policy-schema.ts'
import { readPolicy } from './read-policy.ts'

/** Each pattern with the words that stand where it is asked for. */
function patternsOf(schema: unknown, value: unknown): readonly (readonly [string, string])[] {
  const {
    pattern,
    properties = {},
    items,
    additionalProperties,
  } = (schema ?? {}) as {
    readonly pattern?: string
    readonly properties?: Readonly<Record<string, unknown>>
    readonly items?: unknown
    readonly additionalProperties?: unknown
  }
  if (typeof value === 'string') return pattern === undefined ? [] : [[pattern, value]]
  if (Array.isArray(value)) return value.flatMap((each) => patternsOf(items, each))
  return Object.entries(value as object).flatMap(([name, each]) =>
    patternsOf(properties[name] ?? additionalProperties, each),
  )
}

test('the patterns that editors check allow what the reader takes', () => {
  const policy = readPolicy(`
groups: { ops: [laptop-1, "guest:phone@laptop-1"] }
tags: { db: [db.1] }
allow:
  - { from: ["*", group:ops, tag:db, "route:fd00::/8"], to: [exit, db.1], on: ["*", tcp, "udp:53", "tcp:1-2", icmp] }
  - { from: [laptop-1], to: ["*"], on: [files, egress, service:shop] }
tests:
  - { from: "route:10.0.0.0/8", to: exit, on: icmp, expect: allow }
  - { from: laptop-1, to: db.1, on: "service:shop", expect: allow }
`)
  const asked = patternsOf(policyJsonSchema(), policy)
  expect(asked.length).toBeGreaterThan(20)
  expect(asked.filter(([pattern, word]) => !new RegExp(pattern, 'u').test(word))).toEqual([])
})

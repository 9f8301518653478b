import { expect, test } from 'vitest'
import { formatPolicy } from './format-policy.ts'
import { readPolicy } from './read-policy.ts'

test('writes a policy as people write it, and reads it back', () => {
  const policy = readPolicy(`
groups: { ops: [laptop-1, "guest:phone@laptop-1"] }
tags: { none: [] }
allow: [{ from: ["*"], to: [exit, "route:fd00::/8"], on: [tcp:443, "*"] }]
tests: [{ from: laptop-1, to: exit, on: tcp:443, expect: allow }]
`)
  const text = formatPolicy(policy, 'policy 7\nof today')
  expect(text).toBe(`# policy 7
# of today

default: refuse
groups:
  ops: [ laptop-1, guest:phone@laptop-1 ]
tags:
  none: []
allow:
  - { from: [ "*" ], to: [ exit, route:fd00::/8 ], on: [ tcp:443, "*" ] }
tests:
  - { from: laptop-1, to: exit, on: tcp:443, expect: allow }
`)
  expect(readPolicy(text)).toEqual(policy)
  expect(formatPolicy(readPolicy('{}'))).toBe('default: refuse\nallow: []\n')
})

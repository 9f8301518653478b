import { MeshError, parsePeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { nameMembers, resolvePolicy, resolveWord } from './resolve-policy.ts'
import { readPolicy } from './read-policy.ts'

const LAPTOP = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const DB = parsePeerId('12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo')
const WEB = parsePeerId('12D3KooWKRyzVWW6ChFjQjK4miCty85Niy48tpPV95XdKu1BcvMA')
const MEMBERS = [
  { peer: LAPTOP, name: 'laptop-1' },
  { peer: DB, name: 'db-1' },
  { peer: WEB, name: 'web-1' },
]

function faultsOf(read: () => unknown): readonly (readonly [string, string | undefined, string])[] {
  try {
    read()
  } catch (error) {
    if (!(error instanceof MeshError)) throw error
    return error.issues.map(({ field, value, expected }) => [field, value, expected])
  }
  throw new Error('nothing was refused')
}

test('reads YAML and JSON; what is missing is empty, and refused is the default', () => {
  const yaml = readPolicy(`
groups: { ops: [laptop-1] }   # people
allow:
  - { from: [group:ops, "*"], to: [exit, "route:fd00::/8"], on: [tcp:8000-8100, icmp, "*"] }
`)
  expect(yaml).toEqual({
    default: 'refuse',
    groups: { ops: ['laptop-1'] },
    tags: {},
    allow: [{ from: ['group:ops', '*'], to: ['exit', 'route:fd00::/8'], on: ['tcp:8000-8100', 'icmp', '*'] }],
    tests: [],
  })
  expect(readPolicy(JSON.stringify(yaml))).toEqual(yaml)
})

test('each fault names its field, its value and the expected form', () => {
  const faults = faultsOf(() =>
    readPolicy(`
default: deny
alow: []
groups: { ops: laptop-1, "no name": [] }
allow:
  - { from: ["group:opps"], to: ["exit:x"], on: [tcp:70000] }
  - { from: [], to: ["*"] }
tests:
  - { from: "*", to: db-1, on: tcp, expect: yes }
`),
  )
  expect(faults).toContainEqual(['default', 'deny', 'refuse or allow'])
  expect(faults).toContainEqual(['alow', undefined, 'did you mean allow?'])
  expect(faults).toContainEqual(['groups.ops', 'laptop-1', expect.stringContaining('a list of at most')])
  expect(faults).toContainEqual(['groups.no name', 'no name', expect.stringContaining('letters, digits')])
  expect(faults).toContainEqual(['allow[0].to[0]', 'exit:x', expect.stringContaining('route:RANGE or exit')])
  expect(faults).toContainEqual(['allow[0].on[0]', 'tcp:70000', expect.stringContaining('tcp:FIRST-LAST')])
  expect(faults).toContainEqual(['allow[1].from', '[]', expect.stringContaining('such as [group:ops]')])
  expect(faults).toContainEqual(['allow[1].on', '(nothing)', expect.stringContaining('such as [tcp:443]')])
  expect(faults).toContainEqual(['tests[0].on', 'tcp', expect.stringContaining('tcp:PORT')])
  expect(faults.map(([field]) => field)).toContain('tests[0].expect')
})

test('a group that the policy does not have is told with the nearest name', () => {
  const text = 'groups: { ops: [] }\nallow: [{ from: [group:opps], to: [tag:db], on: [icmp] }]'
  expect(faultsOf(() => readPolicy(text))).toEqual([
    ['allow[0].from[0]', 'group:opps', 'did you mean ops?'],
    ['allow[0].to[0]', 'tag:db', 'a tag that the policy has under tags'],
  ])
})

test.each([
  ['tabs', 'allow:\n\t- x'],
  ['aliases', 'groups: { a: &a [x], b: *a }'],
  ['a name twice', 'groups: { a: [x], a: [y] }'],
  ['depth', '['.repeat(60_000)],
  ['no map', '- x'],
  ['nothing', ''],
  ['length', `# ${'x'.repeat(70_000)}`],
  ['a name of an object', 'allow: [{ from: [group:constructor], to: ["*"], on: ["*"] }]'],
])('refuses %s', (_, text) => {
  expect(() => readPolicy(text)).toThrow(MeshError)
})

test('names become peer ids, and the names that were meant are kept beside', () => {
  const policy = readPolicy(`
groups: { ops: [laptop-1] }
tags: { db: [${DB}, "guest:cam@web-1"] }
allow: [{ from: [guest:phone@laptop-1, "*"], to: [web-1, exit], on: [icmp] }]
tests: [{ from: laptop-1, to: db-1, on: icmp, expect: refuse }]
`)
  const resolved = resolvePolicy(policy, MEMBERS)
  expect(resolved).toEqual({
    policy: {
      default: 'refuse',
      groups: { ops: [LAPTOP] },
      tags: { db: [DB, `guest:cam@${WEB}`] },
      allow: [{ from: [`guest:phone@${LAPTOP}`, '*'], to: [WEB, 'exit'], on: ['icmp'] }],
      tests: [{ from: LAPTOP, to: DB, on: 'icmp', expect: 'refuse' }],
    },
    names: { [LAPTOP]: 'laptop-1', [DB]: 'db-1', [WEB]: 'web-1' },
  })
  const named = nameMembers(resolved.policy, MEMBERS)
  expect(named.tags).toEqual({ db: ['db-1', 'guest:cam@web-1'] })
  expect(resolvePolicy(named, MEMBERS)).toEqual(resolved)
})

test('a name that nobody has, or several have, is refused, and is not shown for one of them', () => {
  const policy = readPolicy('groups: { a: [laptop1], b: [db-1] }')
  const twice = [...MEMBERS, { peer: WEB, name: 'db-1' }]
  const faults = faultsOf(() => resolvePolicy(policy, twice))
  expect(faults).toEqual([
    ['groups.a[0]', 'laptop1', 'did you mean laptop-1?'],
    ['groups.b[0]', 'db-1', expect.stringContaining(`${DB}, ${WEB}`)],
  ])
  const byId = readPolicy(`groups: { b: [${DB}] }`)
  expect(nameMembers(byId, twice)).toEqual(byId)
  expect(() => resolveWord('group', MEMBERS, { field: 'from', form: 'a member' })).toThrow(MeshError)
  expect(resolveWord('guest:phone@db-1', MEMBERS, { field: 'from', form: 'a member' })).toBe(
    `guest:phone@${DB}`,
  )
})

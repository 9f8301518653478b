import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ATTACK_LIST, buildAttackList } from '../attack/attack-list.ts'

const root = join(import.meta.dirname, '../..')

test('the list of attacks says what the scenarios say (else: npm run attack -- --write-list)', () => {
  expect(readFileSync(join(root, ATTACK_LIST), 'utf8')).toBe(buildAttackList())
})

test('the limits that bound attacks are names of the code', () => {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const code = execFileSync(
    'git',
    ['grep', '-hoE', '[A-Z][A-Z0-9]*(_[A-Z0-9]+)+', '--', 'packages', 'apps'],
    options,
  )
  const known = new Set(code.split('\n'))
  const named = buildAttackList().match(/\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b/g) ?? []
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([])
})

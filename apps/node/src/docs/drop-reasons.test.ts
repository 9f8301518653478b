import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DROP_REASONS } from '@mesh/api-contract'
import { expect, test } from 'vitest'

test('every reason of the engine has words, and no other one has', () => {
  const counters = join(import.meta.dirname, '../../../../packages/engine/native/counters.rs')
  const names = [...readFileSync(counters, 'utf8').matchAll(/=> "(\w+)",/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(20)
  expect(Object.keys(DROP_REASONS)).toEqual(names)
})

test('each says what happened in a sentence, and what to do', () => {
  for (const { title, hint } of Object.values(DROP_REASONS)) {
    expect(title).toMatch(/^[A-Z].*\.$/)
    expect(hint).toMatch(/^[A-Z].*\.$/)
  }
})

import { expect, test } from 'vitest'
import { createMemo } from './memo.ts'

test('keeps values with objects, apart for each memo, and nobody sees them there', () => {
  const [first, second] = [createMemo<object, string | null>(), createMemo<object, string | null>()]
  const [owner, other] = [{ a: 1 }, { a: 1 }]
  first.set(owner, 'one')
  second.set(owner, null)
  expect([first.get(owner), second.get(owner)]).toEqual(['one', null])
  expect([first.get(other), second.get(other)]).toEqual([undefined, undefined])
  first.set(owner, 'two')
  expect(first.get(owner)).toBe('two')
  expect(owner).toEqual(other)
  expect(Reflect.ownKeys(owner)).toEqual(['a'])
  expect({ ...owner }).toEqual({ a: 1 })
  expect(first.get({ ...owner })).toBeUndefined()
})

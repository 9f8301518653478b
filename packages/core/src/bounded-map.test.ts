import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('the key that was set longest ago is forgotten first', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('a map of nothing holds nothing', () => {
  expect(new BoundedMap<string, number>(0).set('a', 1).size).toBe(0)
})

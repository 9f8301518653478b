import { expect, test } from 'vitest'
import { KeyedCounts } from './keyed-counts.ts'

test('counts by key and in all, and takes away only what was added', () => {
  const counts = new KeyedCounts<string>()
  expect([counts.add('a'), counts.add('a'), counts.add('b')]).toEqual([1, 2, 1])
  expect([...counts.entries()]).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  counts.remove('a')
  counts.remove('b')
  counts.remove('b')
  counts.remove('never')
  expect([counts.of('a'), counts.of('b'), counts.total, counts.size]).toEqual([1, 0, 1, 1])
})

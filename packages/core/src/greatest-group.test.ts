import { expect, test } from 'vitest'
import { greatestGroup } from './greatest-group.ts'

const items = ['a1', 'b7', 'c2', 'a2', 'c3', 'c1'] as const
const nameOf = (item: string) => item.charAt(0)

test('is the one with the most, the first of several alike, or none', () => {
  expect(greatestGroup(items, nameOf)).toEqual(['c2', 'c3', 'c1'])
  expect(greatestGroup(items, nameOf, (item) => Number(item.at(1)))).toEqual(['b7'])
  expect(greatestGroup(items.slice(0, 3), nameOf)).toEqual(['a1'])
  expect(greatestGroup([], nameOf)).toEqual([])
})

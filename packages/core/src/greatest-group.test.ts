import { expect, test } from 'vitest'
import { greatestGroup, whoMakesWay } from './greatest-group.ts'

const items = ['a1', 'b7', 'c2', 'a2', 'c3', 'c1'] as const
const nameOf = (item: string) => item.charAt(0)

test('is the one with the most, the first of several alike, or none', () => {
  expect(greatestGroup(items, nameOf)).toEqual(['c2', 'c3', 'c1'])
  expect(greatestGroup(items, nameOf, (item) => Number(item.at(1)))).toEqual(['b7'])
  expect(greatestGroup(items.slice(0, 3), nameOf)).toEqual(['a1'])
  expect(greatestGroup([], nameOf)).toEqual([])
})

test('the last of the one with the most makes way for another that will have fewer', () => {
  expect(whoMakesWay(items, nameOf, 'd')).toBe('c1')
  expect(whoMakesWay(items, nameOf, 'b')).toBe('c1')
  expect(whoMakesWay(items, nameOf, 'a')).toBeUndefined()
  expect(whoMakesWay(items, nameOf, 'c')).toBeUndefined()
  expect(whoMakesWay([], nameOf, 'a')).toBeUndefined()
})

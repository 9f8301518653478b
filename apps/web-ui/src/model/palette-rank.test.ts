import { expect, test } from 'vitest'
import { rank } from './palette-rank.ts'

const items = [
  { label: 'printer', also: '10.1.0.7' },
  { label: 'nas', also: '10.1.0.5' },
  { label: 'old nas', also: '10.1.0.6' },
  { label: 'cabin', also: 'nas.example' },
]
const labels = (query: string, most = 9) => rank(items, query, most).map(({ label }) => label)

test('what begins with the query comes first, then what contains it, then what is found by other text', () => {
  expect(labels('NAS')).toEqual(['nas', 'old nas', 'cabin'])
})

test('all words must fit, in any order', () => {
  expect(labels('10.1 nas')).toEqual(['nas', 'old nas'])
  expect(labels('nas 10.9')).toEqual([])
})

test('gives no more than asked for, and all in their order without a query', () => {
  expect(labels('', 2)).toEqual(['printer', 'nas'])
})

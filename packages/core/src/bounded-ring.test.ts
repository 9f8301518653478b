import { expect, test } from 'vitest'
import { BoundedRing } from './bounded-ring.ts'

const sizeOf = (text: string) => text.length

test('the oldest items are dropped first, by number and by size, and numbers go on', () => {
  const ring = new BoundedRing<string>({ maxItems: 3, maxSize: 10, sizeOf })
  for (const item of ['a', 'b', 'c', 'd']) ring.push(item)
  expect([ring.items, ring.first, ring.last, ring.at(2), ring.at(1)]).toEqual([
    ['b', 'c', 'd'],
    2,
    4,
    'b',
    undefined,
  ])
  ring.push('eight789')
  expect([ring.items, ring.first]).toEqual([['c', 'd', 'eight789'], 3])
  ring.push('fg')
  expect([ring.items, ring.first, ring.last]).toEqual([['eight789', 'fg'], 5, 6])
})

test('the newest item stays, however large it is', () => {
  const ring = new BoundedRing<string>({ maxItems: 3, maxSize: 2, sizeOf })
  ring.push('a')
  ring.push('long')
  expect(ring.items).toEqual(['long'])
})

test('an item that is taken out frees its size and its number', () => {
  const ring = new BoundedRing<string>({ maxItems: 3, maxSize: 4, sizeOf })
  expect(ring.pop()).toBeUndefined()
  ring.push('a')
  ring.push('bcd')
  expect([ring.pop(), ring.last]).toEqual(['bcd', 1])
  ring.push('efg')
  expect([ring.items, ring.last]).toEqual([['a', 'efg'], 2])
})

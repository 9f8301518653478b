// @vitest-environment node
import { expect, test } from 'vitest'
import { type BlockHead, isHeartbeat, joinBlocks, type KnownBlocks, nextBefore } from './kept-blocks.ts'

const block = (Index: number, Buckets = ['dns'], Hash = `hash${Index}`): BlockHead => ({
  Index,
  Timestamp: '2026-11-21T12:00:00Z',
  Hash,
  PrevHash: `hash${Index - 1}`,
  Changes: Buckets.length,
  Buckets,
})

const range = (newest: number, oldest: number) =>
  Array.from({ length: newest - oldest + 1 }, (_, at) => block(newest - at))

const known: KnownBlocks = { head: 8, first: 1, blocks: range(8, 5) }

test('newer blocks come above, older below, and what is known twice is taken from the answer', () => {
  const later = { Head: 9, First: 1, Blocks: [block(9), block(8, ['dns'], 'replaced'), block(7)] }
  const joined = joinBlocks(known, later)
  expect(joined?.head).toBe(9)
  expect(joined?.blocks.map(({ Index }) => Index)).toEqual([9, 8, 7, 6, 5])
  expect(joined?.blocks[1]?.Hash).toBe('replaced')
  const older = joinBlocks(known, { Head: 8, First: 1, Blocks: range(4, 2) })
  expect(older?.blocks.map(({ Index }) => Index)).toEqual([8, 7, 6, 5, 4, 3, 2])
})

test('an answer that does not touch what is known joins nothing', () => {
  expect(joinBlocks(known, { Head: 20, First: 1, Blocks: range(20, 15) })).toBeUndefined()
})

test('blocks that the node keeps no more are dropped, and the end is known', () => {
  const joined = joinBlocks(known, { Head: 9, First: 7, Blocks: range(9, 8) })
  expect(joined?.blocks.map(({ Index }) => Index)).toEqual([9, 8, 7])
  expect(joined && nextBefore(joined)).toBeUndefined()
  expect(nextBefore(known)).toBe(5)
})

test('a block of heartbeats alone is told from one that changes more', () => {
  expect(isHeartbeat(block(1, ['healthcheck']))).toBe(true)
  expect(isHeartbeat(block(1, ['healthcheck', 'dns']))).toBe(false)
  expect(isHeartbeat(block(1, []))).toBe(false)
})

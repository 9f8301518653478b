import { expect, test } from 'vitest'
import { endToEnd } from './headers.ts'

test('headers that a sender names as of one connection alone are not passed on', () => {
  const raw = ['Connection', 'close, X-Mine', 'X-Mine', '1', 'X-Other', '2', 'Keep-Alive', 'timeout=5']
  expect(endToEnd(raw, ['x-none'])).toEqual(['X-Other', '2'])
})

test('a head of nothing but names costs each of its headers no walk through all of them', () => {
  const names = Array.from({ length: 500_000 }, (_, at) => `x${at}`).join(',')
  const raw = Array.from({ length: 20_000 }, () => ['y-mine', '1']).flat()
  expect(endToEnd(['connection', names, ...raw])).toHaveLength(raw.length)
})

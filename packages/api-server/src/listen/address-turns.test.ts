import { expect, test } from 'vitest'
import { AddressTurns } from './address-turns.ts'

const from = (remoteAddress: string) => ({ remoteAddress })

test('each address has as many taken, and what others leave goes to those that have more', () => {
  const turns = new AddressTurns<ReturnType<typeof from>>()
  const many = Array.from({ length: 100 }, () => from('127.0.0.2'))
  const few = Array.from({ length: 3 }, (_, at) => from(`2001:db8:0:${at}::1`))
  for (const socket of [...many, ...few]) turns.add(socket)
  expect(turns.size).toBe(103)
  const taken = turns.take(16)
  expect(taken).toHaveLength(16)
  expect(taken).toEqual(expect.arrayContaining(few))
  // those that wait longest and those that came last
  expect(taken).toContain(many[0])
  expect(taken).toContain(many[99])
  expect(turns.take(1_000)).toHaveLength(87)
  expect(turns.size).toBe(0)
})

test('an address that had its turn is the last one in the next, and a /64 is one address', () => {
  const turns = new AddressTurns<ReturnType<typeof from>>()
  const [a, b, c] = [from('10.0.0.1'), from('10.0.0.1'), from('10.0.0.2')]
  const [d, e] = [from('2001:db8::1'), from('2001:db8::2')]
  for (const socket of [a, b, c, d, e]) turns.add(socket)
  expect(turns.take(1)).toEqual([a])
  expect(turns.take(2)).toEqual([c, d])
  expect(turns.take(2)).toEqual([b, e])
  expect(turns.take(1)).toEqual([])
})

test('one that is gone is not taken', () => {
  const turns = new AddressTurns<ReturnType<typeof from>>()
  const [a, b] = [from('10.0.0.1'), from('10.0.0.2')]
  for (const socket of [a, a, b]) turns.add(socket)
  turns.delete(a)
  turns.delete(a)
  expect(turns.size).toBe(1)
  expect(turns.take(4)).toEqual([b])
})

import { expect, test } from 'vitest'
import { createReaderSeats } from './reader-seats.ts'

function takeAll(take: () => (() => void) | undefined, most = 1_000): (() => void)[] {
  const taken: (() => void)[] = []
  for (let seat = take(); seat !== undefined && taken.length < most; seat = take()) taken.push(seat)
  return taken
}

test('one address, an IPv6 network or a mapped address cannot take what others need', () => {
  const seats = createReaderSeats()
  expect(takeAll(() => seats.take('192.0.2.1'))).toHaveLength(32)
  expect(seats.take('::ffff:192.0.2.1')).toBeUndefined()
  let host = 0
  expect(takeAll(() => seats.take(`2001:db8::${(host++).toString(16)}`))).toHaveLength(32)
  expect(seats.take('192.0.2.2')).toBeDefined()
})

test('other machines leave places for this one, and its listeners for the control socket', () => {
  const seats = createReaderSeats()
  let host = 0
  expect(takeAll(() => seats.take(`198.51.100.${host++}`))).toHaveLength(80)
  expect(takeAll(() => seats.take('127.0.0.1'))).toHaveLength(32)
  expect(seats.take('::1')).toBeUndefined()
  expect(takeAll(() => seats.take(undefined))).toHaveLength(16)
})

test('a place that was given back is free again, once', () => {
  const seats = createReaderSeats()
  const [first, ...rest] = takeAll(() => seats.take('192.0.2.1'))
  first?.()
  first?.()
  expect(takeAll(() => seats.take('192.0.2.1'))).toHaveLength(1)
  for (const leave of rest) leave()
  expect(takeAll(() => seats.take('192.0.2.1'))).toHaveLength(31)
})

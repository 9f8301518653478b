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

test('readers that stay for ever keep nobody out: of a full share the longer known half stays', () => {
  const seats = createReaderSeats()
  const ended: string[] = []
  const take = (address: string | undefined, name: string) => seats.take(address, () => ended.push(name))
  for (let n = 0; n < 32; n++) take('192.0.2.1', `one ${n}`)
  for (let n = 0; n < 48; n++) take(`192.0.2.${10 + n}`, `other ${n}`)
  expect(ended).toEqual([])
  // the address's own place, and that of the address with the most
  expect(take('192.0.2.1', 'one more')).toBeDefined()
  expect(take('192.0.2.250', 'another')).toBeDefined()
  expect(ended).toEqual(['one 16', 'one 17'])
  for (let n = 0; n < 32; n++) take('127.0.0.1', `own ${n}`)
  expect(take('::1', 'own page')).toBeDefined()
  for (let n = 0; n < 16; n++) take(undefined, `socket ${n}`)
  expect(take(undefined, 'command')).toBeDefined()
  expect(ended.slice(2)).toEqual(['own 16', 'socket 8'])
})

import { cidrContains, type IpAddress, parseCidr } from '@mesh/core'
import { expect, test } from 'vitest'
import { ipv6InRange } from './ipv6-in-range.ts'

test('an address lies in the range, is the same each time, and another for another text', () => {
  const range = parseCidr('fd00:1::/64')
  const [one, other] = ['a', 'b'].map((text) => ipv6InRange(range, text, new Set()))
  expect(one !== undefined && cidrContains(range, one)).toBe(true)
  expect(ipv6InRange(range, 'a', new Set())).toBe(one)
  expect(other).not.toBe(one)
})

test('a used address is not given, and a full range gives none', () => {
  const range = parseCidr('fd00:1::4/127')
  const [first, last] = ['fd00:1::4', 'fd00:1::5'] as IpAddress[]
  expect(ipv6InRange(range, 'a', new Set(first === undefined ? [] : [first]))).toBe(last)
  expect(ipv6InRange(range, 'a', new Set(['fd00:1::4', 'fd00:1::5'] as IpAddress[]))).toBeUndefined()
})

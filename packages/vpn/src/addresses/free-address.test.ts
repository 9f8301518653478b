import { type Cidr, cidrContains, type IpAddress, parseCidr, parseIp } from '@mesh/core'
import { describe, expect, it, test } from 'vitest'
import { countLeasable, freeAddress, ipv6InRange, isLeasable } from './free-address.ts'

const used = (...texts: string[]) => new Set<IpAddress>(texts.map((text) => parseIp(text)))
const free = (range: string, taken = used(), skip = 0) => freeAddress(parseCidr(range), taken, skip)

/** Takes one after another until none is left. */
function drain(range: Cidr): IpAddress[] {
  const taken = used()
  for (let next = freeAddress(range, taken); next !== undefined; next = freeAddress(range, taken))
    taken.add(next)
  return [...taken]
}

describe('freeAddress', () => {
  it('gives the lowest one, gaps first', () => {
    expect(free('10.1.0.0/24')).toBe('10.1.0.1')
    expect(free('10.1.0.0/24', used('10.1.0.1', '10.1.0.3'))).toBe('10.1.0.2')
    expect(free('10.1.0.0/24', used('10.1.0.1', '10.1.0.2', '10.9.0.3', 'fd00::1'))).toBe('10.1.0.3')
    expect(free('10.1.0.0/24', used('10.1.0.2'), 2)).toBe('10.1.0.4')
  })

  it.each([
    ['10.1.0.4/30', ['10.1.0.5', '10.1.0.6']],
    ['10.1.0.4/31', ['10.1.0.4', '10.1.0.5']],
    ['10.1.0.4/32', ['10.1.0.4']],
  ])('gives all that hosts may have in %s, and no more', (range, addresses) => {
    expect(drain(parseCidr(range))).toEqual(addresses)
    expect(countLeasable(parseCidr(range))).toBe(addresses.length)
  })

  it.each(['10.1.0.0/24', '10.1.0.128/25', '10.1.0.0/22'])('counts what it gives in %s', (text) => {
    const range = parseCidr(text)
    const all = drain(range)
    expect(all).toHaveLength(countLeasable(range))
    expect(all.every((address) => isLeasable(range, address))).toBe(true)
    expect(new Set(all).size).toBe(all.length)
  })

  it('never gives .0 and .255 of a large range: legacy nodes take every network for a /24', () => {
    const all = drain(parseCidr('10.1.0.0/22'))
    expect(all.filter((address) => /\.(0|255)$/.test(address))).toEqual([])
    expect(all.at(-1)).toBe('10.1.3.254')
  })

  it('looks at no more of a /8 than is used', () => {
    const range = parseCidr('10.0.0.0/8')
    const taken = used()
    for (let at = 0; at < 1000; at++) taken.add(freeAddress(range, taken) ?? parseIp('::'))
    expect(taken.size).toBe(1000)
    expect(freeAddress(range, taken)).toBe('10.0.3.239')
    expect(countLeasable(range)).toBe(254 * 65_536)
  })

  it('counts round and round where fewer are free than should be skipped', () => {
    expect(free('10.1.0.0/29', used('10.1.0.6'), 4)).toBe('10.1.0.5')
    expect(free('10.1.0.0/29', used('10.1.0.6'), 42)).toBe('10.1.0.3')
    expect(free('10.1.0.0/30', used('10.1.0.1', '10.1.0.2'), 3)).toBeUndefined()
  })
})

describe('isLeasable', () => {
  it.each([
    ['10.1.0.0/24', '10.1.0.0', false],
    ['10.1.0.0/24', '10.1.0.255', false],
    ['10.1.0.0/24', '10.1.1.1', false],
    ['10.1.0.0/24', '10.1.0.254', true],
    ['10.1.0.0/16', '10.1.7.255', false],
    ['10.1.0.0/31', '10.1.0.0', true],
  ])('in %s: %s %s', (range, address, expected) => {
    expect(isLeasable(parseCidr(range), parseIp(address))).toBe(expected)
  })
})

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

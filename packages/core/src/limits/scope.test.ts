import { expect, test } from 'vitest'
import { Scope, type ScopeLimits } from './scope.ts'

/** A scope, and which claims lost their places. */
function createScope(limits: ScopeLimits) {
  const scope = new Scope(limits)
  const ended: string[] = []
  const take = (
    name: string,
    address: string,
    claim: { peer?: string; size?: number; isUnproven?: () => boolean } = {},
  ) => scope.reserve({ peer: name, address, end: () => ended.push(name), ...claim })
  return { scope, ended, take }
}

test('a place counts by peer, by address and in all until it is given back', () => {
  const { scope, take } = createScope({ all: 3, perPeer: 1, perAddress: 2 })
  const first = take('a', '192.0.2.1')
  expect(take('a', '192.0.2.2')).toBeUndefined()
  expect(take('b', '192.0.2.1')).toBeDefined()
  expect(take('c', '192.0.2.1')).toBeUndefined()
  expect(scope.totalOf('192.0.2.1')).toBe(2)
  first?.release()
  first?.release()
  expect(scope.total).toBe(1)
  expect(scope.hasRoom({ peer: 'b', address: '192.0.2.1' })).toBe(false)
  expect(scope.hasRoom({ peer: 'c', address: '192.0.2.1' })).toBe(true)
})

test('the addresses of one /64 count as one, and a claim without an address by its peer', () => {
  const { take } = createScope({ all: 9, perAddress: 1 })
  expect(take('a', '2001:db8::1')).toBeDefined()
  expect(take('b', '2001:db8::ffff')).toBeUndefined()
  const scope = new Scope({ all: 9, perAddress: 1 })
  expect(scope.reserve({ peer: 'a' })).toBeDefined()
  expect(scope.reserve({ peer: 'b' })).toBeDefined()
  expect(scope.reserve({ peer: 'a' })).toBeUndefined()
})

test('the address with the most gives its newest place to another address, and none to an equal', () => {
  const { ended, take } = createScope({ all: 4 })
  take('a', '192.0.2.1')
  take('b', '192.0.2.1')
  take('c', '192.0.2.1')
  take('d', '192.0.2.2')
  expect(take('e', '192.0.2.1')).toBeUndefined()
  expect(take('e', '192.0.2.3')).toBeDefined()
  expect(ended).toEqual(['c'])
  expect(take('f', '192.0.2.2')).toBeUndefined()
  expect(take('f', '192.0.2.4')).toBeDefined()
  expect(ended).toEqual(['c', 'b'])
  // each has one now
  expect(take('g', '192.0.2.5')).toBeUndefined()
})

test('at the address with the most the peer with the most loses a place', () => {
  const { ended, take } = createScope({ all: 4 })
  take('first of many', '192.0.2.1', { peer: 'many' })
  take('one', '192.0.2.1')
  take('last of many', '192.0.2.1', { peer: 'many' })
  take('other', '192.0.2.2')
  take('newcomer', '192.0.2.3')
  expect(ended).toEqual(['last of many'])
})

test('by the rule of the oldest a newcomer takes the oldest place of its own address', () => {
  const { ended, take } = createScope({ all: 9, perAddress: 2, evict: 'oldest' })
  for (const name of ['a', 'b', 'c']) expect(take(name, '192.0.2.1')).toBeDefined()
  expect(ended).toEqual(['a'])
})

test('a place that cannot be taken back stays', () => {
  const scope = new Scope({ all: 2, evict: 'oldest' })
  scope.reserve({ address: '192.0.2.1' })
  scope.reserve({ address: '192.0.2.1' })
  expect(scope.reserve({ address: '192.0.2.2', end: () => {} })).toBeUndefined()
  expect(scope.total).toBe(2)
})

test('bytes: the largest of the address with the most goes when all together have too many', () => {
  const { scope, ended, take } = createScope({ all: 100, evict: 'largest' })
  const small = take('small', '192.0.2.1', { size: 10 })
  take('large', '192.0.2.2', { size: 40 })
  take('larger', '192.0.2.2', { size: 45 })
  expect(small?.resize(20)).toBe(true)
  expect(ended).toEqual(['larger'])
  expect(scope.total).toBe(60)
  expect(small?.size).toBe(20)
})

test('bytes: a claim that grows past the share of its peer loses its own place', () => {
  const { scope, ended, take } = createScope({ all: 100, perPeer: 50, evict: 'largest' })
  const one = take('one', '192.0.2.1', { size: 10 })
  expect(one?.resize(51)).toBe(false)
  expect(ended).toEqual([])
  expect(scope.total).toBe(0)
  expect(one?.resize(1)).toBe(false)
})

test('the unproven have a share of their own, and go before members', () => {
  const members = new Set(['m1', 'm2'])
  const { scope, ended, take } = createScope({ all: 4, unproven: 2 })
  const claim = (name: string, address: string) =>
    take(name, address, { isUnproven: () => !members.has(name) })
  claim('s1', '192.0.2.1')
  claim('s2', '192.0.2.1')
  expect(claim('s3', '192.0.2.1')).toBeUndefined()
  expect(claim('s3', '192.0.2.3')).toBeDefined()
  expect(ended).toEqual(['s2'])
  claim('m1', '192.0.2.9')
  claim('m2', '192.0.2.9')
  members.add('m3')
  expect(claim('m3', '192.0.2.9')).toBeDefined()
  expect(ended).toHaveLength(2)
  expect(scope.total).toBe(4)
})

import { expect, test } from 'vitest'
import { createRate, createTokenBucket } from './rate.ts'

function createClock() {
  let now = 0
  return {
    now: () => now,
    monotonic: () => now,
    after: () => () => {},
    advance: (ms: number) => void (now += ms),
  }
}

test('a bucket starts full and refills steadily, and takes amounts', () => {
  const clock = createClock()
  const bucket = createTokenBucket({ perSecond: 10, burst: 4 }, clock)
  expect(bucket.take(5)).toBe(false)
  expect(bucket.take(3)).toBe(true)
  expect(bucket.take(1, 1)).toBe(false)
  expect(bucket.take()).toBe(true)
  expect(bucket.take()).toBe(false)
  clock.advance(100)
  expect(bucket.take()).toBe(true)
  clock.advance(60_000)
  expect(bucket.take(4)).toBe(true)
  expect(bucket.take()).toBe(false)
})

test('each peer and each address has a rate, and the addresses of a /64 one together', () => {
  const rate = createRate(
    { perPeer: { perSecond: 1, burst: 2 }, perAddress: { perSecond: 1, burst: 3 } },
    createClock(),
  )
  const take = (peer: string, address: string) => rate.take({ peer, address })
  expect([1, 2, 3].map(() => take('a', '2001:db8::1'))).toEqual([true, true, false])
  expect(take('b', '2001:db8::2')).toBe(true)
  expect(take('c', '2001:db8::3')).toBe(false)
  expect(take('c', '192.0.2.1')).toBe(true)
})

test('the addresses of a network share a rate where it counts by network', () => {
  const rate = createRate({ perAddress: { perSecond: 1, burst: 1 }, byNetwork: true }, createClock())
  expect(rate.take({ address: '192.0.2.1' })).toBe(true)
  expect(rate.take({ address: '192.0.2.200' })).toBe(false)
  expect(rate.take({ address: '192.0.3.1' })).toBe(true)
})

test('an address that took much leaves the last of the common rate to others', () => {
  const rates = { perAddress: { perSecond: 100, burst: 100 }, all: { perSecond: 1, burst: 10 } }
  const rate = createRate(rates, createClock())
  const taken = Array.from({ length: 10 }, () => rate.take({ address: '192.0.2.1' })).filter(Boolean)
  expect(taken).toHaveLength(5)
  expect(rate.take({ address: '192.0.2.2' })).toBe(true)
})

test('the rate of all is shared without addresses, too', () => {
  const rate = createRate({ all: { perSecond: 1, burst: 2 } }, createClock())
  expect([1, 2, 3].map(() => rate.take())).toEqual([true, true, false])
})

test('of too many addresses the one heard longest ago is forgotten', () => {
  const rate = createRate({ perAddress: { perSecond: 0.001, burst: 1 }, maxRemembered: 2 }, createClock())
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1'])
    expect(rate.take({ address })).toBe(true)
})

test('addresses that ask without pause leave some to one that asks for little', () => {
  const clock = createClock()
  const rates = { perAddress: { perSecond: 10, burst: 100 }, all: { perSecond: 20, burst: 200 } }
  const rate = createRate(rates, clock)
  let [greedy, refused] = [0, 0]
  for (let turn = 0; turn < 600; turn++) {
    for (let at = 0; at < 40; at++)
      for (let times = 0; times < 3; times++) if (rate.take({ address: `192.0.2.${at}` })) greedy++
    if (turn % 40 === 0 && !rate.take({ address: '198.51.100.1' })) refused++
    clock.advance(100)
  }
  expect(refused).toBe(0)
  expect(greedy).toBeGreaterThan(1_000)
  expect(greedy).toBeLessThan(200 + 60 * 20)
})

import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { createFairRate } from './rate-limit.ts'

function createClock() {
  const time = { ms: 0 }
  const clock: Clock = { now: () => time.ms, monotonic: () => time.ms, after: () => () => {} }
  return { time, clock }
}

const RATES = {
  ofAddress: { perSecond: 10, burst: 100 },
  ofAll: { perSecond: 20, burst: 200 },
  maxAddresses: 1_000,
}

test('addresses that ask without pause leave some to one that asks for little', () => {
  const { time, clock } = createClock()
  const rate = createFairRate(RATES, clock)
  let [greedy, refused] = [0, 0]
  for (let turn = 0; turn < 600; turn++) {
    for (let at = 0; at < 40; at++) {
      for (let times = 0; times < 3; times++) if (rate.take(`192.0.2.${at}`)) greedy++
    }
    if (turn % 40 === 0 && !rate.take('198.51.100.1')) refused++
    time.ms += 100
  }
  expect(refused).toBe(0)
  // of a minute they have what is left, and no more
  expect(greedy).toBeGreaterThan(1_000)
  expect(greedy).toBeLessThan(200 + 60 * 20)
})

test('whoever is alone has its own rate, and half of what all have at once', () => {
  const { clock } = createClock()
  const rate = createFairRate({ ...RATES, ofAddress: { perSecond: 10, burst: 1_000 } }, clock)
  const own = createFairRate(RATES, clock)
  const takenOf = ({ take }: typeof rate, address: string) =>
    Array.from({ length: 1_000 }, () => take(address)).filter(Boolean).length
  expect(takenOf(own, '192.0.2.1')).toBe(100)
  expect(takenOf(rate, '192.0.2.1')).toBe(100)
  // a /64 is one address
  expect(takenOf(rate, '2001:db8::1')).toBe(50)
  expect(takenOf(rate, '2001:db8::2')).toBe(0)
})

import { expect, test } from 'vitest'
import { backoffMs, createBackoff } from './backoff.ts'

const bounds = { leastMs: 100, mostMs: 1000 }

test('doubles with each failure, up to the longest delay', () => {
  expect([0, 1, 2, 3, 4, 99].map((failures) => backoffMs(bounds, failures))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoffMs(bounds, -3)).toBe(100)
})

test('chance takes a half of the delay at most', () => {
  expect(backoffMs(bounds, 0, 0)).toBe(50)
  expect(backoffMs(bounds, 0, 0.5)).toBe(75)
})

test('a failure delays the next try, and a success allows it', () => {
  let now = 0
  const clock = { now: () => now, monotonic: () => now, after: () => () => {} }
  const random = { float: () => 1, bytes: (length: number) => new Uint8Array(length) }
  const backoff = createBackoff(bounds, { clock, random })
  expect(backoff.remainingMs()).toBe(0)
  backoff.failed()
  backoff.failed()
  expect(backoff.remainingMs()).toBe(200)
  now = 60
  expect(backoff.remainingMs()).toBe(140)
  backoff.hasten(100)
  expect(backoff.remainingMs()).toBe(40)
  backoff.succeeded()
  expect(backoff.remainingMs()).toBe(0)
  backoff.failed()
  expect(backoff.remainingMs()).toBe(100)
})

import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from './clock.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test("the system's clock is the time of day, finer than a millisecond, and does not run backwards", () => {
  const times = Array.from({ length: 1000 }, () => systemClock.now())
  expect(Math.abs((times.at(-1) ?? 0) - Date.now())).toBeLessThanOrEqual(10)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times.some((time) => !Number.isInteger(time))).toBe(true)
})

test("the system's clock follows when the time is set, or the machine slept", () => {
  const real = Date.now
  for (const step of [3_600_000, -7_200_000, 0]) {
    vi.spyOn(Date, 'now').mockImplementation(() => real() + step)
    expect(Math.abs(systemClock.now() - (real() + step))).toBeLessThanOrEqual(10)
    const later = systemClock.now()
    expect(Math.abs(later - (real() + step))).toBeLessThanOrEqual(10)
  }
})

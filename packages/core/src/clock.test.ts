import { spawnSync } from 'node:child_process'
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

test('the monotonic time counts on when the time is set', () => {
  const before = systemClock.monotonic()
  vi.spyOn(Date, 'now').mockImplementation(() => 0)
  systemClock.now()
  const elapsed = systemClock.monotonic() - before
  expect(elapsed).toBeGreaterThanOrEqual(0)
  expect(elapsed).toBeLessThan(1_000)
})

test('a delay that is longer than a timer may be ends when it is over, and not at once', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const [day, run, cancelled] = [24 * 3_600_000, vi.fn(), vi.fn()]
    systemClock.after(60 * day, run)
    const cancel = systemClock.after(60 * day, cancelled)
    systemClock.after(Number.POSITIVE_INFINITY, cancelled)
    vi.advanceTimersByTime(30 * day)
    cancel()
    vi.advanceTimersByTime(30 * day - 1)
    expect(run).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(run).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(100 * day)
    expect(cancelled).not.toHaveBeenCalled()
  } finally {
    vi.useRealTimers()
  }
})

/** Runs a module in a process of its own, which ends when nothing keeps it alive. */
function runAlone(code: string) {
  const clock = JSON.stringify(new URL('clock.ts', import.meta.url).href)
  const source = `import { delay, systemClock } from ${clock}\n${code}`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    encoding: 'utf8',
  })
  return { status, stdout }
}

test('a delay that a program awaits keeps its process alive', () => {
  const code = "await delay(systemClock, 20)\nconsole.log('over')"
  expect(runAlone(code)).toEqual({ status: 0, stdout: 'over\n' })
})

test('a callback that nobody counts on does not keep the process alive', () => {
  const code = "systemClock.after(60_000, () => console.log('called'))"
  expect(runAlone(code)).toEqual({ status: 0, stdout: '' })
})

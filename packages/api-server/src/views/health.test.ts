import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import type { HealthProblem } from '../ports.ts'
import { createHealthView } from './health.ts'

const problem = (code: string, more: Partial<HealthProblem> = {}): HealthProblem => ({
  code,
  severity: 'warning',
  title: 'T',
  hint: 'H.',
  ...more,
})

test('a problem without a time of its own is there since it was first told, until it ends', async () => {
  const clock = createManualClock(0)
  const view = createHealthView(clock)
  const times = (...problems: readonly HealthProblem[]) =>
    view(problems).Problems.map(({ Code, Since }) => `${Code} ${Since?.slice(17, 19)}`)
  expect(times(problem('a'), problem('b', { since: 30_000 }))).toEqual(['a 00', 'b 30'])
  await clock.advance(5_000)
  // its words may change meanwhile
  expect(times(problem('a', { title: 'T (2 times)' }), problem('c'))).toEqual(['a 00', 'c 05'])
  expect(times()).toEqual([])
  expect(times(problem('a'))).toEqual(['a 05'])
})

test('the worst problem comes first and names the status', () => {
  const view = createHealthView(createManualClock(0))
  const { Status, Problems } = view([problem('a'), problem('b', { severity: 'error' })])
  expect([Status, ...Problems.map(({ Code }) => Code)]).toEqual(['error', 'b', 'a'])
  expect(view([]).Status).toBe('ok')
})

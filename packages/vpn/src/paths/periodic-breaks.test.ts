import { expect, test } from 'vitest'
import { expectedBreak, withBreak } from './periodic-breaks.ts'

const at = (seconds: readonly number[]) => seconds.map((each) => each * 1_000)

test('a period is seen from the third break on, and its spread widens what is expected', () => {
  expect(expectedBreak(at([0, 60]))).toBeUndefined()
  const steady = expectedBreak(at([0, 60, 120]))
  expect(steady?.from).toBeLessThan(180_000)
  expect(steady?.from).toBeGreaterThan(165_000)
  const wide = expectedBreak(at([0, 50, 125, 190]))
  expect(wide?.from).toBeLessThan(240_000)
  expect(wide?.until).toBeGreaterThan(265_000)
})

test.each([
  ['without a period', [0, 20, 90, 300]],
  ['too often', [0, 5, 10, 15]],
  ['too seldom', [0, 600, 1_200, 1_800]],
])('breaks %s foretell nothing', (_name, seconds) => {
  expect(expectedBreak(at(seconds))).toBeUndefined()
})

test('only the latest breaks count', () => {
  let broke: readonly number[] = at([0, 7, 500])
  for (const each of at([560, 620, 680, 740])) broke = withBreak(broke, each)
  expect(expectedBreak(broke)?.from).toBeGreaterThan(740_000)
})

// @vitest-environment node
import { expect, test } from 'vitest'
import { linePath } from './ping-line.tsx'

const pings = (...times: (number | undefined)[]) =>
  times.map((roundTripMs, number) => ({ number, roundTripMs }))

test('the line goes through all answers, the slowest near the top', () => {
  expect(linePath(pings(5, 10), 58)).toBe('M58 34.9h0L59 5.8')
})

test('the line breaks where no answer came, and a lone answer is a dot', () => {
  expect(linePath(pings(10, undefined, 10), 57)).toBe('M57 5.8h0M59 5.8h0')
  expect(linePath(pings(undefined), 59)).toBe('')
})

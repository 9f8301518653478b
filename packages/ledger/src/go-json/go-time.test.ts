import { expect, test } from 'vitest'
import { formatGoTime } from './go-time.ts'

test.each([
  [Date.UTC(2026, 7, 12, 13, 6, 40), '2026-08-12 13:06:40 +0000 UTC'],
  [Date.UTC(2026, 7, 12, 13, 6, 40, 120), '2026-08-12 13:06:40.12 +0000 UTC'],
  [Date.UTC(2026, 7, 12, 13, 6, 40) + 0.5, '2026-08-12 13:06:40.0005 +0000 UTC'],
])('%d prints as Go prints it', (ms, text) => {
  expect(formatGoTime(ms)).toBe(text)
})

import { createManualClock } from '@mesh/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_FUTURE_MS } from '../limits.ts'
import { ClockCheck } from './clock-check.ts'

const NOW_MS = 1_790_000_000_000

test('agrees exactly where the median of the members is known and near', () => {
  const far = fc.integer({ min: -3 * MAX_FUTURE_MS, max: 3 * MAX_FUTURE_MS })
  const edge = fc.constantFrom(-MAX_FUTURE_MS - 1, -MAX_FUTURE_MS, 0, MAX_FUTURE_MS, MAX_FUTURE_MS + 1)
  fc.assert(
    fc.property(fc.array(fc.oneof(far, edge), { maxLength: 9 }), (aheads) => {
      const check = new ClockCheck(createManualClock(NOW_MS))
      for (const [at, aheadMs] of aheads.entries()) check.told(`member ${at}`, NOW_MS + aheadMs)
      const offset = check.offset()
      expect(check.agrees).toBe(offset !== undefined && Math.abs(offset.aheadMs) <= MAX_FUTURE_MS)
    }),
    { numRuns: 500 },
  )
})

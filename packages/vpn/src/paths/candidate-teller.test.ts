import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { CandidateTeller } from './candidate-teller.ts'
import { QUICK_TELLS, SLOW_TELL_MS, TELL_AFTER_MS } from './limits.ts'

function createTelling() {
  const clock = createManualClock()
  const times: number[] = []
  let searches = 0
  const teller = new CandidateTeller({
    tell: () => times.push(clock.monotonic()),
    onChangeTold: () => searches++,
    clock,
  })
  return { clock, teller, times, searches: () => searches }
}

test('changes are told together soon, and after many within a minute seldom', async () => {
  const { clock, teller, times } = createTelling()
  for (let change = 0; change < QUICK_TELLS; change++) {
    teller.tellSoon()
    teller.tellSoon()
    await clock.advance(TELL_AFTER_MS)
    expect(times).toHaveLength(change + 1)
  }
  teller.tellSoon()
  await clock.advance(SLOW_TELL_MS - 1)
  expect(times).toHaveLength(QUICK_TELLS)
  await clock.advance(1)
  expect(times).toHaveLength(QUICK_TELLS + 1)
  teller.stop()
})

test('over another channel all is told at once, however much was told over the one before, and both ends search', async () => {
  const { clock, teller, times, searches } = createTelling()
  for (let change = 0; change <= QUICK_TELLS; change++) {
    teller.tellSoon()
    await clock.advance(TELL_AFTER_MS)
  }
  const before = [times.length, searches()]
  teller.reopened()
  expect([times.length, searches()]).toEqual(before.map((count) => count + 1))
  teller.tellSoon()
  await clock.advance(TELL_AFTER_MS)
  expect(times.length).toBe((before[0] ?? 0) + 2)
  await clock.advance(SLOW_TELL_MS)
  expect(times.length).toBe((before[0] ?? 0) + 2)
  teller.stop()
})

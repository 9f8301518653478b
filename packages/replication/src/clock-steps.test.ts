import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { watchClockSteps } from './clock-steps.ts'
import { CLOCK_LOOK_MS } from './limits.ts'

it('tells of each step of the clock once, forward or back, and of no drift', async () => {
  const clock = createManualClock()
  let steps = 0
  const stop = watchClockSteps(() => steps++, { clock, random: createSeededRandom(1) })
  const stepsAfter = async (stepMs: number) => {
    steps = 0
    clock.stepWall(stepMs)
    await clock.advance(3 * CLOCK_LOOK_MS)
    return steps
  }
  expect(await stepsAfter(500)).toBe(0)
  expect(await stepsAfter(3_600_000)).toBe(1)
  expect(await stepsAfter(-3_600_000)).toBe(1)
  stop()
  expect(await stepsAfter(3_600_000)).toBe(0)
})

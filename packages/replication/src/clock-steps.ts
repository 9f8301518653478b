/** Notices that the time of day was set, or that the machine slept. */
import type { Clock, Random } from '@mesh/core'
import { CLOCK_LOOK_MS, CLOCK_STEP_MS } from './limits.ts'
import { startTimer } from './timer.ts'

/** Calls `run` soon after each step of the clock; the returned function stops. */
export function watchClockSteps(run: () => void, components: { clock: Clock; random: Random }): () => void {
  const { clock } = components
  const offsetMs = () => clock.now() - clock.monotonic()
  let known = offsetMs()
  const look = () => {
    const before = known
    known = offsetMs()
    if (Math.abs(known - before) > CLOCK_STEP_MS) run()
  }
  return startTimer({ everyMs: () => CLOCK_LOOK_MS, run: look }, components)
}

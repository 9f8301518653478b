/** Repeats with jitter, so that nodes that started together do not act together. */
import type { Clock, Random } from '@mesh/core'

export interface TimerInit {
  /** Asked before each wait, in milliseconds; the wait is drawn from 0.9 to 1 of it, never longer. */
  readonly everyMs: () => number
  /** The part of the interval (0 to 1) from which on a wait may end; 0.9 by default. */
  readonly least?: number
  readonly run: () => void
}

/** Calls `run` for the first time after one wait; the returned function stops. */
export function startTimer(init: TimerInit, components: { clock: Clock; random: Random }): () => void {
  const { clock, random } = components
  const least = init.least ?? 0.9
  let cancel: () => void = () => {}
  const wait = () => {
    const part = least + (1 - least) * random.float()
    cancel = clock.after(init.everyMs() * part, () => {
      // The next wait is set first: what runs may stop the timer.
      wait()
      init.run()
    })
  }
  wait()
  return () => cancel()
}

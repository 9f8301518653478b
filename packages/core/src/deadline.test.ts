import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { createDeadline, untilAborted, withDeadline } from './deadline.ts'

/** A clock whose one timer the test lets run out. */
function createTimer() {
  let due: (() => void) | undefined
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    after(_ms, run) {
      due = run
      return () => {
        due = undefined
      }
    },
  }
  return { clock, runOut: () => due?.(), isRunning: () => due !== undefined }
}

const late = new Error('too late')
const reason = () => late
/** Work that heeds its signal, and nothing else. */
const untilTold = (signal: AbortSignal) => untilAborted(new Promise<never>(() => {}), signal)

test('work is told when its time is over', async () => {
  const timer = createTimer()
  const work = withDeadline({ clock: timer.clock, ms: 100, reason }, untilTold)
  timer.runOut()
  await expect(work).rejects.toBe(late)
})

test('work ends with the outer signal and its reason, also with one that aborted before', async () => {
  const timer = createTimer()
  const outer = new AbortController()
  const init = { clock: timer.clock, ms: 100, signal: outer.signal, reason }
  const work = withDeadline(init, untilTold)
  outer.abort(new Error('stopped'))
  await expect(work).rejects.toThrow('stopped')
  await expect(withDeadline(init, untilTold)).rejects.toThrow('stopped')
})

test('nothing is left running behind work that is done', async () => {
  const timer = createTimer()
  const outer = new AbortController()
  await withDeadline({ clock: timer.clock, ms: 100, signal: outer.signal, reason }, async () => 'done')
  expect(timer.isRunning()).toBe(false)
  const deadline = createDeadline({ clock: timer.clock, ms: 100, signal: outer.signal, reason })
  deadline.stop()
  outer.abort()
  expect(deadline.signal.aborted).toBe(false)
})

test('a promise that cannot be stopped is left behind', async () => {
  const signal = AbortSignal.abort(late)
  await expect(untilAborted(Promise.resolve(1), signal)).rejects.toBe(late)
  await expect(untilAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1)
})

import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { afterTurns, createDeadline, untilAborted, withDeadline } from './deadline.ts'

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

/** A clock whose timers all come so late, in ms. */
function createLateClock(lateMs: number) {
  let now = 0
  let due: { readonly at: number; readonly run: () => void } | undefined
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after(ms, run) {
      due = { at: now + ms + lateMs, run }
      return () => {
        due = undefined
      }
    },
  }
  const pass = (untilMs: number) => {
    for (let next = due; next !== undefined && next.at <= untilMs; next = due) {
      due = undefined
      now = next.at
      next.run()
    }
  }
  return { clock, pass, now: () => now }
}

test.each([
  { lateMs: 0, endsMs: 10_000 },
  { lateMs: 250, endsMs: 20_000 },
  { lateMs: 5_000, endsMs: 40_000 },
])('time in which this process had no turns does not count: timers $lateMs ms late', ({ lateMs, endsMs }) => {
  const { clock, pass, now } = createLateClock(lateMs)
  let isOver = false
  afterTurns(clock, 10_000, () => (isOver = true))
  pass(endsMs - 1)
  expect(isOver).toBe(false)
  // the last timer is late, too
  pass(endsMs + lateMs)
  expect([isOver, now() <= endsMs + lateMs]).toEqual([true, true])
})

test('what was cancelled is not called, and a patient deadline aborts once its turns are over', () => {
  const { clock, pass } = createLateClock(250)
  let isOver = false
  const cancel = afterTurns(clock, 10_000, () => (isOver = true))
  pass(5_000)
  cancel()
  pass(100_000)
  expect(isOver).toBe(false)
  const late = new Error('late')
  const { signal } = createDeadline({ clock, ms: 1_000, isPatient: true, reason: () => late })
  pass(106_000)
  expect(signal.reason).toBe(late)
})

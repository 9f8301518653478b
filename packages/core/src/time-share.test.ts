import { expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { TimeShare } from './time-share.ts'

/** A clock that jumps to whatever is waited for, or stands still. */
function createClock(jumps: boolean) {
  const time = { ms: 0 }
  const clock: Clock = {
    now: () => time.ms,
    monotonic: () => time.ms,
    after(delayMs, run) {
      if (jumps)
        queueMicrotask(() => {
          time.ms += delayMs
          run()
        })
      return () => {}
    },
  }
  return { time, clock }
}

test('work runs in its turn, and what it took is counted, also where it fails', async () => {
  const { time, clock } = createClock(true)
  const share = new TimeShare({ burstMs: 10, oneIn: 4 }, clock)
  const beganMs: number[] = []
  const work = (ms: number, error?: Error) =>
    share.run(5, new AbortController().signal, () => {
      beganMs.push(time.ms)
      time.ms += ms
      if (error !== undefined) throw error
      return ms
    })
  expect(await work(8)).toBe(8)
  await expect(work(12, new Error('failed'))).rejects.toThrow('failed')
  expect(await work(0)).toBe(0)
  // of 10 ms 20 were used and 5 came back: it takes four times 10 ms until 5 are left
  expect(beganMs).toEqual([0, 8, 60])
})

test('the time of works that overlap is counted once', async () => {
  const { time, clock } = createClock(false)
  const share = new TimeShare({ burstMs: 100, oneIn: 1_000 }, clock)
  const { signal } = new AbortController()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const works = [share.run(5, signal, () => first.promise), share.run(5, signal, () => second.promise)]
  time.ms = 10
  first.resolve()
  await works[0]
  time.ms = 30
  second.resolve()
  await works[1]
  expect(share.leftMs).toBeCloseTo(70, 0)
})

test('work that waits for its turn ends with the signal', async () => {
  const share = new TimeShare({ burstMs: 10, oneIn: 4 }, createClock(false).clock)
  const ending = new AbortController()
  share.use(20)
  const waiting = share.run(5, ending.signal, () => 'never')
  ending.abort(new Error('over'))
  await expect(waiting).rejects.toThrow('over')
})

import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { SCRUB_INTERVAL_MS, SCRUB_REST_MS } from '../limits.ts'
import { startReaper } from './reaper.ts'

/** Whole intervals since the epoch at which it reaped. */
async function reapedAt(intervalMs: number | undefined, advanceMs: number): Promise<number[]> {
  const clock = createManualClock(0)
  const times: number[] = []
  const stop = startReaper({
    ledger: {
      reap: () => {
        times.push(Math.floor(clock.now() / (intervalMs ?? SCRUB_INTERVAL_MS)))
        return { collected: 0, hasMore: false, ended: 0 }
      },
    },
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    syncedAt: () => 0,
    ...(intervalMs === undefined ? {} : { intervalMs }),
  })
  await clock.advance(advanceMs)
  stop()
  return times
}

test('reaps at every multiple of ten minutes', async () => {
  expect(await reapedAt(undefined, 31 * 60_000)).toEqual([1, 2, 3])
})

test('draws anew each time', async () => {
  const clock = createManualClock(0)
  const draws: unknown[] = []
  const stop = startReaper({
    ledger: {
      reap: (draw) => {
        draws.push(draw)
        return { collected: 0, hasMore: false, ended: 0 }
      },
    },
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    syncedAt: () => 0,
  })
  await clock.advance(5 * SCRUB_INTERVAL_MS)
  stop()
  expect(new Set(draws).size).toBe(draws.length)
  for (const draw of draws) expect(draw).toSatisfy((each: number) => each >= 0 && each < 1)
})

test('or of the interval that it was given', async () => {
  expect(await reapedAt(60_000, 190_000)).toEqual([1, 2, 3])
})

test('where more is left it goes on after a rest, until it is stopped', async () => {
  const clock = createManualClock(0)
  let calls = 0
  const stop = startReaper({
    ledger: { reap: () => ({ collected: 1, hasMore: ++calls < 5, ended: 0 }) },
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    syncedAt: () => 0,
  })
  await clock.advance(SCRUB_INTERVAL_MS + 5_000 + SCRUB_REST_MS * 10)
  expect(calls).toBe(5)
  calls = 0
  await clock.advance(SCRUB_INTERVAL_MS - 5_000 - SCRUB_REST_MS * 10)
  while (calls === 0) await clock.advance(1)
  stop()
  await clock.advance(SCRUB_REST_MS * 10)
  expect([calls, clock.pending]).toEqual([1, 0])
})

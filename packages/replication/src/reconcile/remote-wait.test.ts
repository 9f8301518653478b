import { delay } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { ENTRY_WAIT_MS, SLOW_SESSION_MS } from '../limits.ts'
import { RemoteWait } from './remote-wait.ts'

/** A session that waits `times` for a tenth of what it may, after each of which so many entries came. */
async function waitFor(times: number, entries: number) {
  const clock = createManualClock()
  let told = 0
  const remote = new RemoteWait(clock, () => told++)
  for (let time = 0; time < times; time++) {
    const waiting = remote.for(delay(clock, SLOW_SESSION_MS / 10))
    await clock.advance(SLOW_SESSION_MS / 10)
    await waiting
    remote.brought(entries)
  }
  return { told, waitedMs: remote.waitedMs }
}

test('many short silences make a session slow, which is told once', async () => {
  expect(await waitFor(30, 0)).toEqual({ told: 1, waitedMs: 3 * SLOW_SESSION_MS })
})

test('a session that brings entries for the time that it takes is not slow', async () => {
  const entries = SLOW_SESSION_MS / 10 / ENTRY_WAIT_MS
  expect(await waitFor(30, entries)).toEqual({ told: 0, waitedMs: 0 })
  expect(await waitFor(30, Math.floor(entries / 3))).toMatchObject({ told: 1 })
})

import { type Clock, parsePeerId, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { Heartbeat } from './heartbeat.ts'

const MINUTE = 60_000

/** A clock whose callbacks stand still while its machine sleeps. */
function createSleeper() {
  const clock = createManualClock()
  const missed: (() => void)[] = []
  let asleep = false
  const sleepy: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (delayMs, run) => clock.after(delayMs, () => (asleep ? missed.push(run) : run())),
  }
  const sleep = async (ms: number) => {
    asleep = true
    await clock.advance(ms)
    asleep = false
    for (const run of missed.splice(0)) run()
    await clock.advance(0)
  }
  return { clock, sleepy, sleep }
}

function createNode() {
  const { clock, sleepy, sleep } = createSleeper()
  const self = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
  const beats: { at: number; value: string }[] = []
  const ended: string[] = []
  let arrived = Promise.withResolvers<void>()
  let begun = 0
  const heartbeat = new Heartbeat(
    { intervalMs: 2 * MINUTE, livenessMs: 8 * MINUTE, hasLegacy: () => false },
    {
      ledger: {
        self,
        put(_bucket, _key, value) {
          beats.push({ at: clock.now(), value })
          return { settled: Promise.resolve({ state: 'committed', block: 1 }) }
        },
        delete(_bucket, key) {
          ended.push(key)
          return { settled: Promise.resolve({ state: 'committed', block: 1 }) }
        },
      },
      initialSync: {
        wait: () => arrived.promise,
        ready: true,
        begin() {
          begun++
          arrived = Promise.withResolvers<void>()
        },
      },
      clock: sleepy,
      random: createSeededRandom(1),
      logger: silentLogger,
    },
  )
  heartbeat.start()
  return { clock, sleep, beats, ended, self, heartbeat, arrive: () => arrived.resolve(), begun: () => begun }
}

it('says nothing before the node has arrived, then at once', async () => {
  const { clock, beats, heartbeat, arrive } = createNode()
  await clock.advance(MINUTE)
  expect(beats).toEqual([])
  arrive()
  await clock.advance(0)
  expect(beats.map(({ value }) => value)).toEqual(['"2026-01-01T00:01:00Z"'])
  heartbeat.stop()
  await clock.advance(10 * MINUTE)
  expect([beats.length, clock.pending]).toEqual([1, 0])
})

it('is ended by a node that leaves, once there was one', async () => {
  const { clock, beats, ended, self, heartbeat, arrive } = createNode()
  arrive()
  await clock.advance(0)
  await heartbeat.leave()
  await clock.advance(10 * MINUTE)
  expect([beats.length, ended, clock.pending]).toEqual([1, [self], 0])
  const silent = createNode()
  await silent.heartbeat.leave()
  expect(silent.ended).toEqual([])
})

it('goes on after a nap, but after a sleep that outlasted the lease it arrives anew', async () => {
  const { clock, sleep, beats, heartbeat, arrive, begun } = createNode()
  arrive()
  await clock.advance(0)
  await sleep(3 * MINUTE)
  expect([beats.length, begun()]).toEqual([2, 0])
  await sleep(9 * MINUTE)
  expect([beats.length, begun()]).toEqual([2, 1])
  arrive()
  await clock.advance(0)
  expect(beats).toHaveLength(3)
  heartbeat.stop()
})

it.each([-60 * MINUTE, 60 * MINUTE])('beats anew when the clock is set by %i ms', async (stepMs) => {
  const { clock, beats, heartbeat, arrive } = createNode()
  heartbeat.clockSet()
  arrive()
  await clock.advance(0)
  expect(beats).toHaveLength(1)
  clock.stepWall(stepMs)
  heartbeat.clockSet()
  arrive()
  await clock.advance(0)
  expect(beats.map(({ at }) => at).at(-1)).toBe(clock.now())
  expect(beats).toHaveLength(2)
  heartbeat.stop()
})

import type { PeerId } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { FEW_JOINED, JOINED_MOST_MS, SECOND_CALLER_MS, SPREAD_PEERS } from '../limits.ts'
import { CatchUp } from './catch-up.ts'
import type { SessionResult } from './session-result.ts'

const peerAt = (number: number) => `p${String(number).padStart(3, '0')}` as PeerId

/** A node with the smallest id that meets so many at once; sessions take some seconds. */
function meet(count: number, tookMs: number) {
  const clock = createManualClock()
  const peers = Array.from({ length: count }, (_, at) => peerAt(at))
  const asked: { readonly peer: PeerId; readonly atMs: number }[] = []
  const began = clock.monotonic()
  const catchUp = new CatchUp({
    self: 'a' as PeerId,
    channels: { peersWith: () => peers, onPeerWith: () => () => {} } as never,
    topic: { peers: () => peers },
    reconciler: {
      isPaused: () => false,
      async reconcile(peer: PeerId) {
        asked.push({ peer, atMs: clock.monotonic() - began })
        await new Promise<void>((resolve) => clock.after(tookMs, resolve))
      },
    } as never,
    clock,
    random: createSeededRandom(1),
  })
  catchUp.start()
  return { clock, asked, catchUp }
}

test('a few that are met are asked at once, and of many the later ones later, all of them soon', async () => {
  const few = meet(4, 0)
  await few.clock.advance(1)
  expect(few.asked).toHaveLength(4)
  few.catchUp.stop()
  const many = meet(60, 0)
  await many.clock.advance(1)
  expect(many.asked.length).toBeLessThanOrEqual(FEW_JOINED + 2)
  await many.clock.advance(JOINED_MOST_MS + SECOND_CALLER_MS)
  expect(new Set(many.asked.map(({ peer }) => peer)).size).toBe(60)
  many.catchUp.stop()
})

test('news that goes on and on is spread less and less often, and soon again after a calm', async () => {
  const { clock, asked, catchUp } = meet(8, 0)
  await clock.advance(1_000)
  const news = { peer: peerAt(0), outcome: 'reconciled', news: true } as SessionResult
  const spreadWithin = async (seconds: number) => {
    const before = asked.length
    for (let second = 0; second < seconds; second++) {
      catchUp.sessionEnded(news)
      await clock.advance(1_000)
    }
    return asked.length - before
  }
  // one look a minute is nobody's news
  expect(await spreadWithin(2)).toBeGreaterThanOrEqual(SPREAD_PEERS)
  expect(await spreadWithin(28)).toBeLessThanOrEqual(9 * SPREAD_PEERS)
  await clock.advance(60_000)
  expect(await spreadWithin(2)).toBeGreaterThanOrEqual(SPREAD_PEERS)
  catchUp.stop()
})

import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_OWN_SESSIONS, SPREAD_DELAY_MS, UNHEARD_CHECK_INTERVAL_MS } from '../limits.ts'
import { CatchUp } from './catch-up.ts'
import type { Reconciler } from './reconciler.ts'
import type { SessionResult } from './session-result.ts'

const [ALICE, BOB, CAROL] = ['alice', 'bob', 'carol'] as PeerId[] as [PeerId, PeerId, PeerId]

/** Of a node that is connected to these and has been for a while; each session lasts until it is ended. */
function createWatched(peers: readonly PeerId[], heard: () => readonly PeerId[] = () => peers) {
  const clock = createManualClock()
  const asked: PeerId[] = []
  const running = new Map<PeerId, () => void>()
  const beSlow = new Map<PeerId, () => void>()
  const reconcile = async (peer: PeerId, { onSlow }: { readonly onSlow: () => void }) => {
    asked.push(peer)
    beSlow.set(peer, onSlow)
    await new Promise<void>((resolve) => running.set(peer, resolve))
    running.delete(peer)
    return resultOf(peer)
  }
  let onPeer: (peer: PeerId, present: boolean) => void = () => {}
  const channels = {
    peersWith: () => peers,
    onPeerWith: (_protocol: string, listener: typeof onPeer) => {
      onPeer = listener
      return () => {}
    },
  }
  const catchUp: CatchUp = new CatchUp({
    self: 'self' as PeerId,
    channels: channels as never,
    topic: { peers: heard },
    reconciler: { reconcile, isPaused: () => false } as unknown as Reconciler,
    clock,
    random: { float: () => 0.5 } as never,
  })
  /** The peers that were asked since it was called last. */
  const newlyAsked = () => asked.splice(0).toSorted()
  const end = async (...ended: readonly PeerId[]) => {
    for (const peer of ended) running.get(peer)?.()
    await clock.advance(0)
  }
  const join = (peer: PeerId) => onPeer(peer, true)
  return { clock, catchUp, newlyAsked, end, beSlow, join }
}

const resultOf = (peer: PeerId, news = false) =>
  ({ peer, outcome: 'equal', news, role: 'initiator' }) as unknown as SessionResult

test('who brought news is not asked for it, unless somebody else brought some meanwhile', async () => {
  const { clock, catchUp, newlyAsked, end } = createWatched([ALICE, BOB])
  catchUp.sessionEnded(resultOf(ALICE, true))
  await clock.advance(SPREAD_DELAY_MS)
  expect(newlyAsked()).toEqual([BOB])
  await end(BOB)
  catchUp.sessionEnded(resultOf(ALICE, true))
  catchUp.sessionEnded(resultOf(BOB, true))
  await clock.advance(SPREAD_DELAY_MS)
  expect(newlyAsked()).toEqual([ALICE, BOB])
  await end(ALICE, BOB)
  catchUp.sessionEnded(resultOf(ALICE, true))
  catchUp.compareSoon()
  await clock.advance(SPREAD_DELAY_MS)
  expect(newlyAsked()).toEqual([ALICE, BOB])
})

test('who is asked while a session with it runs is asked again when that has ended', async () => {
  const { clock, catchUp, newlyAsked, end } = createWatched([ALICE])
  catchUp.compareSoon()
  await clock.advance(SPREAD_DELAY_MS)
  expect(newlyAsked()).toEqual([ALICE])
  catchUp.compareSoon()
  await clock.advance(SPREAD_DELAY_MS)
  expect(newlyAsked()).toEqual([])
  await end(ALICE)
  expect(newlyAsked()).toEqual([ALICE])
  await end(ALICE)
  expect(newlyAsked()).toEqual([])
})

test('anyone who comes is asked at once, however many are slow', async () => {
  const slow = Array.from({ length: 40 }, (_, at) => `slow ${10 + at}` as PeerId)
  const newcomer = 'zoe' as PeerId
  const peers = [...slow]
  const { clock, catchUp, newlyAsked, beSlow, join } = createWatched(peers)
  catchUp.start()
  for (let round = 0; round < slow.length; round++) {
    await clock.advance(SPREAD_DELAY_MS)
    for (const peer of slow) beSlow.get(peer)?.()
  }
  expect(new Set(newlyAsked()).isSupersetOf(new Set(slow))).toBe(true)
  peers.push(newcomer)
  join(newcomer)
  await clock.advance(0)
  expect(newlyAsked()).toEqual([newcomer])
})

test('all hear that the clock was set, a few at a time, and in spite of news that is about to be spread', async () => {
  const others = Array.from({ length: 20 }, (_, at) => `peer ${10 + at}` as PeerId)
  const peers = [ALICE, BOB, CAROL, ...others]
  const { clock, catchUp, newlyAsked, end } = createWatched(peers)
  catchUp.sessionEnded(resultOf(ALICE, true))
  catchUp.clockSet()
  await clock.advance(SPREAD_DELAY_MS)
  const asked = new Set(newlyAsked())
  expect(asked.size).toBe(MAX_OWN_SESSIONS)
  while (asked.size < peers.length) {
    await end(...peers)
    const more = newlyAsked()
    expect(more.length).toBeGreaterThan(0)
    for (const peer of more) asked.add(peer)
  }
  expect([...asked].toSorted()).toEqual(peers.toSorted())
})

test('who comes to the topic after it was connected is asked again, as it missed what was sent there', async () => {
  let heard: readonly PeerId[] = [BOB]
  const { clock, catchUp, newlyAsked, end } = createWatched([ALICE, BOB], () => heard)
  catchUp.start()
  await clock.advance(0.9 * UNHEARD_CHECK_INTERVAL_MS)
  await end(ALICE, BOB)
  newlyAsked()
  heard = [ALICE, BOB]
  await clock.advance(0.1 * UNHEARD_CHECK_INTERVAL_MS)
  expect(newlyAsked()).toEqual([ALICE])
  await end(ALICE)
  await clock.advance(UNHEARD_CHECK_INTERVAL_MS)
  expect(newlyAsked()).toEqual([])
  catchUp.stop()
})

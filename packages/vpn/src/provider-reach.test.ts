import type { PeerId } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_STANDBY, STEADY_MS } from './limits.ts'
import { ProviderReach } from './provider-reach.ts'

const A = 'a' as PeerId

function createLab() {
  const clock = createManualClock()
  const world = {
    connected: new Set<PeerId>(),
    udp: 'none' as 'none' | 'direct' | 'suspect',
    asked: 0,
    dialled: [] as PeerId[],
    changes: 0,
  }
  const watchers = new Set<(peer: PeerId) => void>()
  const reach = new ProviderReach({
    network: {
      pathOf: (peer) =>
        world.connected.has(peer) ? { path: 'direct', transport: 'tcp', rttMs: 7 } : undefined,
      async connect(peer) {
        world.dialled.push(peer)
      },
      onPath(listener) {
        watchers.add(listener)
        return () => watchers.delete(listener)
      },
    },
    tunnels: () => ({
      ask: () => void world.asked++,
      status: () => ({ udp: { state: world.udp, rttMs: undefined } }) as never,
    }),
    clock,
    random: createSeededRandom(1),
    onChange: () => void world.changes++,
  })
  const tell = (peer: PeerId) => {
    for (const listener of watchers) listener(peer)
  }
  return { clock, world, reach, tell, watchers }
}

test('a router is lost when its connection closes and its path over UDP does not answer', () => {
  const { world, reach, tell } = createLab()
  world.connected.add(A)
  world.udp = 'direct'
  reach.follow([A])
  expect(reach.reachOf(A)).toEqual({ isUp: true, isSteady: true, rttMs: 7 })
  world.connected.delete(A)
  tell(A)
  // the path is asked at once, as nothing but packets would have it probed
  expect([world.asked, world.changes]).toEqual([1, 0])
  world.udp = 'suspect'
  reach.changed(A)
  expect([world.changes, reach.reachOf(A).isUp]).toEqual([1, false])
  reach.stop()
})

test('one that comes back is steady after a while, and that is told', async () => {
  const { world, reach, tell, clock, watchers } = createLab()
  world.connected.add(A)
  reach.follow([A])
  world.connected.delete(A)
  tell(A)
  world.connected.add(A)
  tell(A)
  expect([world.changes, reach.reachOf(A)]).toEqual([2, { isUp: true, isSteady: false, rttMs: 7 }])
  await clock.advance(STEADY_MS)
  expect([world.changes, reach.reachOf(A).isSteady]).toEqual([3, true])
  reach.stop()
  expect([clock.pending, watchers.size]).toEqual([0, 0])
})

test('those that stand by are dialled, again after growing waits, and others are left alone', async () => {
  const { world, reach, clock, tell } = createLab()
  reach.follow(Array.from({ length: MAX_STANDBY + 5 }, (_, at) => `peer ${at}` as PeerId))
  await clock.advance(0)
  expect(world.dialled).toHaveLength(MAX_STANDBY)
  reach.follow([A])
  world.dialled.length = 0
  await clock.advance(60_000)
  expect(new Set(world.dialled)).toEqual(new Set([A]))
  expect(world.dialled.length).toBeLessThan(12)
  tell('peer 1' as PeerId)
  expect(world.changes).toBe(0)
  world.connected.add(A)
  tell(A)
  world.dialled.length = 0
  await clock.advance(60_000)
  expect(world.dialled).toEqual([])
  reach.stop()
  expect(clock.pending).toBe(0)
})

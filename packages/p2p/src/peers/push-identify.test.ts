import type { PeerUpdate } from '@libp2p/interface'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { pushIdentify } from './push-identify.ts'

function createHost(connections: number) {
  const clock = createManualClock()
  const pushedAtMs: number[] = []
  const host = Object.assign(new EventTarget(), {
    getConnections: () => Array.from({ length: connections }),
    services: { identifyPush: { push: async () => void pushedAtMs.push(clock.monotonic() - began) } },
  })
  const began = clock.monotonic()
  const stop = pushIdentify({ host: host as never, clock })
  let protocols: readonly string[] = ['/a']
  return {
    clock,
    pushedAtMs,
    stop,
    change(now: readonly string[] = protocols) {
      const detail = { peer: { protocols: now }, previous: { protocols } } as unknown as PeerUpdate
      protocols = now
      host.dispatchEvent(new CustomEvent('self:peer:update', { detail }))
    },
  }
}

test('a few peers are told of all changes within a second in one push', async () => {
  const { clock, pushedAtMs, change } = createHost(4)
  change()
  await clock.advance(500)
  change(['/a', '/b'])
  await clock.advance(900)
  expect(pushedAtMs).toEqual([])
  await clock.advance(10_000)
  expect(pushedAtMs).toEqual([1_500])
})

test('many peers are told of addresses once for a while, and of a new protocol soon', async () => {
  const { clock, pushedAtMs, change } = createHost(48)
  change()
  for (let at = 0; at < 6; at++) {
    await clock.advance(1_000)
    change()
  }
  expect(pushedAtMs).toEqual([])
  await clock.advance(10_000)
  expect(pushedAtMs).toEqual([9_000])
  change()
  change(['/a', '/b'])
  await clock.advance(20_000)
  expect(pushedAtMs).toEqual([9_000, 17_000])
})

test('nothing is pushed after it was stopped', async () => {
  const { clock, pushedAtMs, change, stop } = createHost(1)
  change()
  stop()
  change()
  await clock.advance(60_000)
  expect(pushedAtMs).toEqual([])
})

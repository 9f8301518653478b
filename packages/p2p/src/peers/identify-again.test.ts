import type { Connection, IdentifyResult } from '@libp2p/interface'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { identifyAgain } from './identify-again.ts'

function createHost(peers: readonly string[]) {
  const clock = createManualClock()
  const known = new Map<string, ReadonlySet<string>>()
  const connections = peers.map((peer) => ({ status: 'open', remotePeer: peer }) as unknown as Connection)
  const identify = vi.fn<(connection: Connection) => Promise<IdentifyResult>>()
  identify.mockRejectedValue(new Error('no answer in time'))
  const host = { getConnections: () => connections, services: { identify: { identify } } }
  const spoken = { of: (peer: string) => known.get(peer) }
  onTestFinished(identifyAgain({ host, spoken, clock, logger: silentLogger }))
  return { clock, known, connections, identify }
}

test('a peer that did not say what it speaks is asked again, ever more seldom, until it does', async () => {
  const { clock, known, identify } = createHost(['a', 'b'])
  known.set('b', new Set())
  await clock.advance(5_000)
  expect(identify).not.toHaveBeenCalled()
  await clock.advance(15_000)
  expect(identify.mock.calls.map(([{ remotePeer }]) => String(remotePeer))).toEqual(['a'])
  await clock.advance(600_000)
  expect(identify.mock.calls.length).toBeGreaterThan(3)
  expect(identify.mock.calls.length).toBeLessThan(12)
  known.set('a', new Set(['/mesh/member/1']))
  identify.mockClear()
  await clock.advance(600_000)
  expect(identify).not.toHaveBeenCalled()
})

test('not all are asked at once, and those that were left come next', async () => {
  const peers = Array.from({ length: 100 }, (_, at) => `peer ${at}`)
  const { clock, identify } = createHost(peers)
  await clock.advance(15_000)
  expect(identify.mock.calls.length).toBeLessThanOrEqual(32)
  await clock.advance(60_000)
  expect(new Set(identify.mock.calls.map(([{ remotePeer }]) => String(remotePeer))).size).toBe(100)
})

test('a connection that has ended is left alone', async () => {
  const { clock, connections, identify } = createHost(['a'])
  await clock.advance(5_000)
  Object.assign(connections[0] ?? {}, { status: 'closed' })
  await clock.advance(600_000)
  expect(identify).not.toHaveBeenCalled()
})

import type { TLSSocket } from 'node:tls'
import { parsePeerId, systemRandom } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import type { BulkConnection } from './bulk-connection.ts'
import { OPEN_BUDGET_MS, OPEN_BUDGET_REACHED_MS, READY_CONNECTIONS } from './limits.ts'
import { Opener } from './opener.ts'

const peer = parsePeerId('12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA')

/** An opener whose connections stand when the test says so. */
function start() {
  const clock = createManualClock()
  const dials: (() => void)[] = []
  const opener = new Opener({
    peer,
    clock,
    random: systemRandom,
    build: () => ({ isLive: true, remoteAddress: '192.0.2.1', close() {} }) as unknown as BulkConnection,
    negotiate: async () => ({
      dial: () => new Promise((resolve) => dials.push(() => resolve({} as TLSSocket))),
      askToDial() {},
      close() {},
    }),
    mayDial: () => true,
    onFailed() {},
    onReady() {},
    onUnused() {},
  })
  return { clock, opener, dials }
}

/** Undefined while it waits. */
function outcomeOf(taking: Promise<BulkConnection | undefined>) {
  const outcome: { got?: 'connection' | 'nothing' } = {}
  void taking.then((connection) => (outcome.got = connection === undefined ? 'nothing' : 'connection'))
  return outcome
}

test('a stream waits shortly for a peer that was never reached, and longer for one that is', async () => {
  const { clock, opener, dials } = start()
  const first = outcomeOf(opener.take(() => 0))
  await clock.advance(OPEN_BUDGET_MS)
  expect(first.got).toBe('nothing')
  for (const connect of dials.splice(0)) connect()
  await clock.advance(1)
  const taken = Array.from({ length: READY_CONNECTIONS + 1 }, () => outcomeOf(opener.take(() => 0)))
  const [late, never] = [outcomeOf(opener.take(() => 0)), outcomeOf(opener.take(() => 0))]
  await clock.advance(2 * OPEN_BUDGET_MS)
  expect(taken.map(({ got }) => got)).toEqual(taken.map(() => 'connection'))
  expect([late.got, never.got]).toEqual([undefined, undefined])
  dials.shift()?.()
  await clock.advance(1)
  expect([late.got, never.got]).toEqual(['connection', undefined])
  await clock.advance(OPEN_BUDGET_REACHED_MS)
  expect(never.got).toBe('nothing')
  opener.stop()
})

import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createCircuitDemand } from './circuit-demand.ts'
import { CIRCUIT_DIALS } from './limits.ts'

test('members that a circuit is wanted to are dialled once at a time and so often in all, strangers never', async () => {
  const clock = createManualClock()
  const asked: string[] = []
  const dials = new Map<string, PromiseWithResolvers<void>>()
  const failed: string[] = []
  const isConnected = createCircuitDemand(
    {
      isConnected: (peer) => peer === 'here',
      isMember: (peer) => peer !== 'stranger',
      connect(peer) {
        asked.push(peer)
        const dial = Promise.withResolvers<void>()
        dials.set(peer, dial)
        return dial.promise
      },
      onFailed: (peer, { message }) => failed.push(`${peer} ${message}`),
    },
    clock,
  )
  expect(['here', 'stranger', 'away', 'away'].map(isConnected)).toEqual([true, false, false, false])
  expect(asked).toEqual(['away'])
  dials.get('away')?.reject(new Error('no way'))
  await clock.advance(0)
  expect(failed).toEqual(['away no way'])
  for (let at = 0; at < 100; at++) isConnected(`away-${at}`)
  expect(asked).toHaveLength(CIRCUIT_DIALS.burst)
  await clock.advance(1_000 / CIRCUIT_DIALS.perSecond)
  isConnected('away')
  expect(asked).toHaveLength(CIRCUIT_DIALS.burst + 1)
})

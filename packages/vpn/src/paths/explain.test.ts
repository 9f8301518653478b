import type { IpAddress } from '@mesh/core'
import { expect, test } from 'vitest'
import { createPathState } from './create-path-state.ts'
import { explain, type Varying } from './explain.ts'
import { step } from './step.ts'

const endpoint = { address: '192.0.2.7' as IpAddress, port: 4_711 }

/** Why there is no path after a search in which nothing was answered. @param isHeard the peer's probes came */
function reasonOf(varying: Varying, isHeard = false) {
  const state = createPathState(
    { wantedMtu: 1280, current: { socket: undefined, turn: 0 }, drawNonce: () => 1n },
    0,
  )
  step(state, { type: 'candidates', candidates: [{ endpoint, kind: 'seen' }] }, 0)
  for (let now = 100; now <= 10_000; now += 100) step(state, { type: 'tick' }, now)
  const ping = { type: 'ping', from: endpoint, socket: undefined, nonce: 1n, length: 42, turn: 0 } as const
  if (isHeard) step(state, ping, 10_001)
  return explain(state, varying).reason
}

test('a search that found nothing says whose NAT is in the way, or that UDP is blocked', () => {
  expect(reasonOf('none')).toBe('blocked')
  expect(reasonOf('both')).toBe('both-vary')
  expect(reasonOf('one')).toBe('one-varies')
  expect([reasonOf('none', true), reasonOf('one', true)]).toEqual(['one-way', 'one-way'])
})

import type { IpAddress } from '@mesh/core'
import { expect, test } from 'vitest'
import { MAX_PATHS } from './limits.ts'
import { createPathState, type PathInput } from './path-state.ts'
import { step, usedPath, wakeAt } from './step.ts'

const endpoint = { address: '192.0.2.7' as IpAddress, port: 4_711 }

/** How many probes go to a peer that answers each, within 9 s in which no packets pass. */
function countProbes(isWatched: boolean, wantedMtu = 1280) {
  let nonce = 0n
  const drawNonce = () => nonce++
  const current = { socket: undefined, epoch: 0 }
  const state = createPathState({ wantedMtu, current, drawNonce, isWatched }, 0)
  let probes = 0
  const take = (input: PathInput, now: number): void => {
    for (const effect of step(state, input, now)) {
      if (effect.type !== 'ping') continue
      probes++
      const from = { from: endpoint, socket: undefined, nonce: effect.nonce, length: effect.length }
      take({ type: 'ping', ...from, epoch: 0 }, now)
      take({ type: 'pong', ...from, isSeenAsOwn: true }, now)
    }
  }
  take({ type: 'candidates', candidates: [{ endpoint, kind: 'own' }] }, 0)
  for (let now = wakeAt(state, 0); now <= 9_000; now = wakeAt(state, now)) take({ type: 'tick' }, now)
  return { probes, mtu: usedPath(state)?.mtu }
}

test('a new path that nobody watches is proven all the same, and then left alone until packets pass', () => {
  const [watched, unwatched] = [countProbes(true), countProbes(false)]
  expect([watched.mtu, unwatched.mtu]).toEqual([1280, 1280])
  expect(watched.probes).toBeGreaterThan(10)
  expect(unwatched.probes).toBeLessThanOrEqual(4)
})

test('a tunnel that takes less than IPv6 needs has a path that takes as much', () => {
  expect(countProbes(true, 576).mtu).toBe(576)
})

test('addresses that were only heard make room for others before those that the peer told', () => {
  let nonce = 0n
  const current = { socket: undefined, epoch: 0 }
  const init = { wantedMtu: 1280, current, drawNonce: () => nonce++, isWatched: true }
  const state = createPathState(init, 0)
  step(state, { type: 'candidates', candidates: [{ endpoint, kind: 'own' }] }, 0)
  for (let at = 0; at < 2 * MAX_PATHS; at++) {
    const from = { address: `198.51.100.${at}` as IpAddress, port: 9 }
    step(state, { type: 'ping', from, socket: undefined, nonce: BigInt(at), length: 42, epoch: 0 }, 1)
  }
  expect(state.paths.size).toBe(MAX_PATHS)
  expect([...state.paths.values()].map(({ kind }) => kind)).toContain('own')
})

import type { IpAddress } from '@mesh/core'
import type { Endpoint } from '@mesh/engine'
import { expect, test } from 'vitest'
import { explain, isSameNat, type Nats } from './explain.ts'
import { IDLE_MS } from './limits.ts'
import { createPathState, type PathInput } from './path-state.ts'
import type { CandidateKind } from '../wire/control-message.ts'
import { step } from './step.ts'

const endpoint = { address: '192.0.2.7' as IpAddress, port: 4_711 }

/** Why there is no path after a search in which nothing was answered. @param isHeard the peer's probes came */
function reasonOf(varying: Nats['varying'], { isHeard = false, isSame = false } = {}) {
  const state = createPathState(
    { wantedMtu: 1280, current: { socket: undefined, epoch: 0 }, drawNonce: () => 1n, isWatched: true },
    0,
  )
  step(state, { type: 'candidates', candidates: [{ endpoint, kind: 'seen' }] }, 0)
  for (let now = 100; now <= 10_000; now += 100) step(state, { type: 'tick' }, now)
  const ping = { type: 'ping', from: endpoint, socket: undefined, nonce: 1n, length: 42, epoch: 0 } as const
  if (isHeard) step(state, ping, 10_001)
  return explain(state, { varying, isSame }, 10_001).reason
}

test('a search that found nothing says whose NAT is in the way, or that UDP is blocked', () => {
  expect(reasonOf('none')).toBe('blocked')
  expect(reasonOf('both')).toBe('both-vary')
  expect(reasonOf('one')).toBe('one-varies')
  const isHeard = true
  expect([reasonOf('none', { isHeard }), reasonOf('one', { isHeard })]).toEqual(['one-way', 'one-way'])
  const isSame = true
  expect([reasonOf('none', { isSame }), reasonOf('one', { isSame })]).toEqual(['same-nat', 'same-nat'])
  expect([reasonOf('both', { isSame }), reasonOf('none', { isSame, isHeard })]).toEqual([
    'both-vary',
    'one-way',
  ])
})

test('one NAT is before both ends when others see both at its address', () => {
  const at = (address: string, kind: CandidateKind) => ({
    endpoint: { address: address as IpAddress, port: 4_711 },
    kind,
  })
  const own = [at('192.168.1.2', 'own'), at('198.51.100.7', 'seen')]
  expect(isSameNat(own, [at('192.168.1.3', 'own'), at('198.51.100.7', 'seen')])).toBe(true)
  expect(isSameNat(own, [at('192.168.1.2', 'own'), at('198.51.100.8', 'seen')])).toBe(false)
  expect(isSameNat(own, [])).toBe(false)
})

/** A peer that answers those probes at once for which `answers` holds. @returns takes an input, at a time in ms */
function answeringPeer(
  wantedMtu: number,
  answers: (probe: { readonly to: Endpoint; readonly length: number }) => boolean,
) {
  let nonce = 0n
  const drawNonce = () => nonce++
  const current = { socket: undefined, epoch: 0 }
  const state = createPathState({ wantedMtu, current, drawNonce, isWatched: true }, 0)
  const take = (input: PathInput, now: number): void => {
    for (const effect of step(state, input, now)) {
      if (effect.type !== 'ping' || !answers(effect)) continue
      const from = { from: effect.to, socket: undefined, nonce: effect.nonce, length: effect.length }
      take({ type: 'ping', ...from, epoch: 0 }, now)
      take({ type: 'pong', ...from, isSeenAsOwn: true }, now)
    }
  }
  return { take, explain: (now: number) => explain(state, { varying: 'none', isSame: false }, now) }
}

test('a search is under way until it is known that no packet of 1280 bytes passes', () => {
  const peer = answeringPeer(8_900, ({ length }) => length < 1_280)
  peer.take({ type: 'candidates', candidates: [{ endpoint, kind: 'own' }] }, 0)
  const told = new Set<string | undefined>()
  // two probes of each of eight lengths take longer than the search
  for (let now = 300; now <= 15_000; now += 300) {
    peer.take({ type: 'active' }, now)
    peer.take({ type: 'tick' }, now)
    told.add(peer.explain(now).reason)
  }
  expect([...told]).toEqual(['searching', 'too-small'])
})

test('a path that nobody needed for long is not said to be blocked', () => {
  const peer = answeringPeer(1_280, () => true)
  peer.take({ type: 'candidates', candidates: [{ endpoint, kind: 'own' }] }, 0)
  peer.take({ type: 'tick' }, IDLE_MS + 1_000)
  expect(peer.explain(IDLE_MS + 1_000)).toMatchObject({ state: 'none', reason: 'idle' })
  peer.take({ type: 'active' }, IDLE_MS + 2_000)
  expect(peer.explain(IDLE_MS + 2_000)).toMatchObject({ state: 'direct', reason: undefined })
})

test('anyone who asks learns which addresses answer at that time', () => {
  const other = { address: '192.0.2.8' as IpAddress, port: 4_711 }
  const answering = new Set<Endpoint>([endpoint, other])
  const peer = answeringPeer(1_280, ({ to }) => answering.has(to))
  const ask = (at: number) => {
    peer.take({ type: 'try' }, at)
    peer.take({ type: 'tick' }, at + 1_000)
    const { reason, candidates } = peer.explain(at + 1_000)
    return [reason, ...candidates.map(({ isAnswered, isHeard }) => [isAnswered, isHeard])]
  }
  const candidates = [endpoint, other].map((each) => ({ endpoint: each, kind: 'own' }) as const)
  peer.take({ type: 'candidates', candidates }, 0)
  const [well, silent] = [
    [true, true],
    [false, false],
  ]
  expect(ask(1_000)).toEqual([undefined, well, well])
  answering.delete(other)
  // what came before says nothing of now
  expect(ask(30_000)).toEqual([undefined, well, silent])
  const ping = { type: 'ping', from: other, socket: undefined, nonce: 1n, length: 42, epoch: 0 } as const
  peer.take(ping, 31_500)
  expect(ask(60_000)).toEqual([undefined, well, [false, true]])
  // more than a minute ago
  expect(ask(92_000)).toEqual([undefined, well, silent])
  // nobody needed the path for long, and somebody who asks does
  peer.take({ type: 'tick' }, IDLE_MS + 90_000)
  expect(peer.explain(IDLE_MS + 90_000).reason).toBe('idle')
  expect(ask(IDLE_MS + 91_000)).toEqual([undefined, well, silent])
})

import type { IpAddress, PeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { chooseExit, type ExitOffer, type ExitWish } from './choose-exit.ts'
import type { PeerReach } from './peer-reach.ts'

const [A, B] = ['12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB', 'b'] as unknown as [PeerId, PeerId]

function offer(peer: PeerId, hostname: string): ExitOffer {
  return { peer, hostname, families: ['ipv4'], faults: [] }
}

function choose(wanted: string, offers: readonly ExitOffer[], pinned?: PeerId) {
  const addresses = new Map([['10.1.0.2', A]]) as ReadonlyMap<string, PeerId>
  return chooseExit(
    { wanted, pinned: [pinned] },
    {
      offers: new Map(offers.map((each) => [each.peer, each])),
      isPeer: (peer) => peer === A || offers.some((each) => each.peer === peer),
      ownerOf: (address: IpAddress) => addresses.get(address),
    },
  )
}

test('a member is chosen by its name in any case, its address or its id', () => {
  const gate = offer(A, 'gate')
  for (const wanted of ['Gate', '10.1.0.2', A])
    expect(choose(wanted, [gate])).toMatchObject({ state: 'chosen', offer: gate, standby: [], pinned: [A] })
})

test('a name that several offers have chooses none of them', () => {
  expect(choose('gate', [offer(A, 'gate'), offer(B, 'gate')])).toEqual({ state: 'ambiguous', peers: [A, B] })
})

test('what a name stood for once stays, whoever claims the name later', () => {
  const [first, hostile] = [offer(A, 'gate'), offer(B, 'gate')]
  expect(choose('gate', [first, hostile], A)).toMatchObject({ state: 'chosen', offer: first })
  expect(choose('gate', [hostile], A)).toEqual({ state: 'notOffered', peer: A })
})

test('who offers nothing is no exit, and who is not there is unknown', () => {
  expect(choose('10.1.0.2', [])).toEqual({ state: 'notOffered', peer: A })
  expect(choose('10.1.0.3', [])).toEqual({ state: 'unknown', peer: undefined })
  expect(choose('', [offer(A, '')])).toEqual({ state: 'unknown', peer: undefined })
})

/** Chooses among exits `a`, `b` and `c`, of which some are reached another way than at once. */
function chooseOf(wish: Partial<ExitWish>, reaches: Readonly<Record<string, Partial<PeerReach>>> = {}) {
  const offers = ['a', 'b', 'c'].map((name) => ({
    ...offer(name as PeerId, name),
    families: ['ipv4', 'ipv6'] as const,
  }))
  const choice = chooseExit(
    { wanted: 'any', pinned: [], ...wish },
    {
      offers: new Map(offers.map((each) => [each.peer, each])),
      isPeer: () => true,
      ownerOf: () => undefined,
      reachOf: (peer) => ({ isUp: true, isSteady: true, rttMs: 5, ...reaches[peer] }),
    },
  )
  return choice.state === 'chosen' ? [choice.offer.peer, ...choice.standby].join('') : choice.state
}

const GONE = { isUp: false }
const BACK = { isSteady: false }

test('of a list the first one that is reached is the exit, in the order of the list', () => {
  expect(chooseOf({ wanted: 'b, c ,a' })).toBe('bca')
  expect(chooseOf({ wanted: 'b,c,a' }, { b: GONE })).toBe('cab')
  // it goes back when the first one has been there for a while
  const current = 'c' as PeerId
  expect(chooseOf({ wanted: 'b,c,a', current }, { b: BACK })).toBe('cab')
  expect(chooseOf({ wanted: 'b,c,a', current })).toBe('bca')
  expect(chooseOf({ wanted: 'nobody,c' })).toBe('c')
  expect(chooseOf({ wanted: 'nobody,nothing' })).toBe('unknown')
})

test('of any the nearest is the exit, and stays so while it is reached', () => {
  expect(chooseOf({}, { b: { rttMs: 1 } })).toBe('bac')
  const current = 'c' as PeerId
  expect(chooseOf({ current }, { b: { rttMs: 1 } })).toBe('cba')
  expect(chooseOf({ current }, { b: { rttMs: 1 }, c: GONE })).toBe('bac')
  expect(chooseOf({ current: 'b' as PeerId }, { c: { ...BACK, rttMs: 1 } })).toBe('bac')
})

test('each name of a list stands for the peer that it was found as first', () => {
  const pinned = [undefined, 'a' as PeerId]
  expect(chooseOf({ wanted: 'x,b', pinned })).toBe('a')
})

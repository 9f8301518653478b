import type { IpAddress, PeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { chooseExit, type ExitOffer } from './choose-exit.ts'

const [A, B] = ['12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB', 'b'] as unknown as [PeerId, PeerId]

function offer(peer: PeerId, hostname: string): ExitOffer {
  return { peer, hostname, families: ['ipv4'], faults: [] }
}

function choose(wanted: string, offers: readonly ExitOffer[], pinned?: PeerId) {
  const addresses = new Map([['10.1.0.2', A]]) as ReadonlyMap<string, PeerId>
  return chooseExit(
    { wanted, pinned },
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
    expect(choose(wanted, [gate])).toEqual({ state: 'chosen', offer: gate })
})

test('a name that several offers have chooses none of them', () => {
  expect(choose('gate', [offer(A, 'gate'), offer(B, 'gate')])).toEqual({ state: 'ambiguous', peers: [A, B] })
})

test('what a name stood for once stays, whoever claims the name later', () => {
  const [first, hostile] = [offer(A, 'gate'), offer(B, 'gate')]
  expect(choose('gate', [first, hostile], A)).toEqual({ state: 'chosen', offer: first })
  expect(choose('gate', [hostile], A)).toEqual({ state: 'notOffered', peer: A })
})

test('who offers nothing is no exit, and who is not there is unknown', () => {
  expect(choose('10.1.0.2', [])).toEqual({ state: 'notOffered', peer: A })
  expect(choose('10.1.0.3', [])).toEqual({ state: 'unknown', peer: undefined })
  expect(choose('', [offer(A, '')])).toEqual({ state: 'unknown', peer: undefined })
})

import { expect, test } from 'vitest'
import { createMeshPeers } from './mesh-peers.ts'

test('a link that only this end wanted goes when it wants it no more', () => {
  const links = createMeshPeers('b')
  expect([links.want('a'), links.want('a')]).toEqual([true, false])
  expect(links.giveUp('a', 0)).toBe(true)
})

test('a link that both ends wanted is given up by the smaller one, on trial', () => {
  const smaller = createMeshPeers('a')
  smaller.want('b')
  smaller.wantedBy('b')
  expect(smaller.giveUp('b', 0)).toBe(true)
  // it still wants the link: not tried again
  smaller.wantedBy('b')
  expect(smaller.giveUp('b', 0)).toBe(false)

  const greater = createMeshPeers('b')
  greater.wantedBy('a')
  expect(greater.giveUp('a', 0)).toBe(false)
})

test('a link that proved useful stays for a while, longer each time that it is missed, up to a bound', () => {
  const links = createMeshPeers('a')
  let now = 1_000_000
  const stays = () => {
    const from = now
    links.useful('b', now)
    expect(links.hasUseful(now)).toBe(true)
    while (!links.giveUp('b', now)) now += 1000
    expect(links.hasUseful(now)).toBe(false)
    return (now - from) / 1000
  }
  expect(Array.from({ length: 10 }, stays)).toEqual([30, 30, 30, 30, 120, 480, 1920, 7680, 14_400, 14_400])
})

test('what a link brings while it stays does not prolong its stay', () => {
  const links = createMeshPeers('a')
  links.useful('b', 0)
  links.useful('b', 29_000)
  expect([links.giveUp('b', 29_999), links.giveUp('b', 30_000)]).toEqual([false, true])
})

test('a link that is gone is told anew', () => {
  const links = createMeshPeers('a')
  links.want('b')
  links.gone('b')
  expect(links.want('b')).toBe(true)
})

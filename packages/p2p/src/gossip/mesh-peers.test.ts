import { expect, test } from 'vitest'
import { MeshPeers } from './mesh-peers.ts'

test('a mesh peer that only this end wanted goes when it wants it no more', () => {
  const peers = new MeshPeers('b')
  expect([peers.want('a'), peers.want('a')]).toEqual([true, false])
  expect(peers.giveUp('a', 0, true)).toBe(true)
})

test('a mesh peer that both ends wanted is given up by the smaller one, on trial', () => {
  const smaller = new MeshPeers('a')
  smaller.want('b')
  smaller.wantedBy('b')
  expect(smaller.giveUp('b', 0, true)).toBe(true)
  // it still wants it: not tried again
  smaller.wantedBy('b')
  expect(smaller.giveUp('b', 0, true)).toBe(false)

  const greater = new MeshPeers('b')
  greater.wantedBy('a')
  expect(greater.giveUp('a', 0, true)).toBe(false)
})

test('a mesh peer that proved useful stays for a while, longer each time that it is missed, up to a bound', () => {
  const peers = new MeshPeers('a')
  let now = 1_000_000
  const stays = () => {
    const from = now
    peers.useful('b', now)
    expect(peers.countUseful(now)).toBe(1)
    while (!peers.giveUp('b', now, true)) now += 1000
    expect(peers.countUseful(now)).toBe(0)
    return (now - from) / 1000
  }
  expect(Array.from({ length: 10 }, stays)).toEqual([30, 30, 30, 30, 120, 480, 1920, 7680, 14_400, 14_400])
})

test('what a mesh peer brings while it stays does not prolong its stay', () => {
  const peers = new MeshPeers('a')
  peers.useful('b', 0)
  peers.useful('b', 29_000)
  expect([peers.giveUp('b', 29_999, true), peers.giveUp('b', 30_000, true)]).toEqual([false, true])
})

test('a mesh peer that is gone is told anew', () => {
  const peers = new MeshPeers('a')
  peers.want('b')
  peers.gone('b')
  expect(peers.want('b')).toBe(true)
})

test('a peer that asked for this end is given up on trial alone', () => {
  const peers = new MeshPeers('a')
  peers.want('b')
  peers.want('c')
  peers.wantedBy('b')
  expect([peers.giveUp('b', 0, false), peers.giveUp('c', 0, false)]).toEqual([false, true])
  expect(peers.giveUp('b', 0, true)).toBe(true)
})

import { expect, test } from 'vitest'
import {
  ASKED_FOR_MS,
  MAX_SPECULATIVE_RELAYED,
  SPECULATIVE_PACE,
  SPECULATIVE_REST,
  SPECULATIVE_SPREAD_MS,
  SPECULATIVE_TRY_MS,
} from './limits.ts'
import { isAskedFor } from './peer-state.ts'
import { playMachines, RELAYED } from '../../test/played-machines.ts'

/** Peers that only a relay leads to. */
function playRelayed(answer: 'connects' | 'hangs' = 'connects') {
  const played = playMachines('a', { answer: () => answer, surroundings: { canUpgrade: false } })
  const find = (...peers: string[]) => {
    for (const peer of peers) played.found(peer, [RELAYED], 'member')
  }
  return { ...played, find }
}

test('one is tried at a time; each that becomes direct doubles that, up to the bound', () => {
  const { machines, find, advance, connect, dials } = playRelayed('hangs')
  const widths: number[] = []
  for (let round = 0; round < 4; round++) {
    const before = dials.length
    find(...Array.from({ length: 20 }, (_, at) => `new${round}-${at}`))
    advance(SPECULATIVE_SPREAD_MS)
    widths.push(dials.length)
    for (const { peer } of dials.slice(before)) connect(peer)
    expect(machines.shared.parallel).toBe(Math.min(4, 2 ** round))
    connect(`p${round}`, { direct: false })
    connect(`p${round}`)
  }
  expect(widths).toEqual([1, 3, 7, 11])
  expect(MAX_SPECULATIVE_RELAYED).toBe(4)
})

test('in a star, where none becomes direct, few are tried and few stay', () => {
  const { find, advance, dials, now, open } = playRelayed()
  const begun = now()
  const peers = Array.from({ length: 18 }, (_, at) => `leaf${at}`)
  for (let minute = 0; minute < 60; minute++) {
    find(...peers)
    for (let second = 0; second < 60; second++) {
      advance(1_000)
      expect(peers.filter((peer) => open(peer).length > 0).length).toBeLessThanOrEqual(
        MAX_SPECULATIVE_RELAYED,
      )
    }
  }
  const tried = dials.map(({ at }) => at - begun)
  expect(tried.filter((at) => at < 60_000).length).toBeLessThanOrEqual(4)
  expect(tried.filter((at) => at < 600_000).length).toBeLessThanOrEqual(9)
  expect(tried.length).toBeGreaterThanOrEqual(8)
  expect(tried.length).toBeLessThanOrEqual(15)
})

test('after one that did not become direct the next waits, and its peer rests longer', () => {
  const { find, advance, dials, disconnect, now } = playRelayed()
  const tried = (peer: string) => dials.filter((dial) => dial.peer === peer).length
  find('b')
  advance(SPECULATIVE_SPREAD_MS)
  expect(tried('b')).toBe(1)
  const failedAt = now()
  disconnect('b')
  find('b', 'c')
  advance(SPECULATIVE_PACE.leastMs - 1_000)
  expect(tried('c')).toBe(0)
  advance(2_000)
  expect([tried('b'), tried('c')]).toEqual([1, 1])
  advance(SPECULATIVE_REST.leastMs - (now() - failedAt) + 60_000)
  expect(tried('b')).toBe(2)
})

test('one that nothing upgrades counts as failed in time', () => {
  const { find, advance, dials } = playRelayed()
  find('b')
  advance(SPECULATIVE_SPREAD_MS)
  find('c')
  advance(SPECULATIVE_TRY_MS - SPECULATIVE_SPREAD_MS - 1)
  expect(dials).toHaveLength(1)
  advance(SPECULATIVE_PACE.leastMs + SPECULATIVE_SPREAD_MS)
  expect(dials.map(({ peer }) => peer)).toEqual(['b', 'c'])
})

test("another's share is taken only where nobody uses the connection or asked for it", () => {
  const { take, connect, advance, closed, find, machines, now } = playRelayed()
  for (const peer of ['asked', 'used', 'b', 'c', 'd', 'e']) {
    if (peer === 'asked') take(peer, { type: 'demand' })
    connect(peer, { direct: false, used: peer === 'used', outbound: false })
    advance(1_000)
  }
  // more came in than there is room for: one goes as soon as it failed
  expect(closed).toEqual([])
  advance(SPECULATIVE_TRY_MS)
  expect(closed).toEqual(['b'])
  find('f')
  advance(SPECULATIVE_PACE.leastMs + SPECULATIVE_SPREAD_MS)
  expect(closed).toEqual(['b', 'c'])
  // what was asked for counts again one day
  advance(ASKED_FOR_MS)
  const asked = machines.get('asked')
  expect(asked !== undefined && isAskedFor(asked, now())).toBe(false)
})

test('a configured peer is dialled over its relay without a share, and keeps it', () => {
  const { found, advance, dials, closed } = playRelayed()
  for (const peer of ['b', 'c', 'd', 'e', 'f', 'g']) found(peer, [RELAYED], 'configured')
  advance(SPECULATIVE_TRY_MS * 3)
  expect(dials).toHaveLength(6)
  expect(closed).toEqual([])
})

/** Dials where this machine or its peers are busy, so that each takes seconds. */
import { expect, test } from 'vitest'
import { DIRECT, playMachines, RELAYED } from '../../test/played-machines.ts'
import {
  DIAL_TIMEOUT_MS,
  GREATER_ID_WAITS_MS,
  MAX_DIAL_TOOK_MS,
  MAX_PARALLEL_DIALS,
  RELAY_STAGGER_MS,
  SPECULATIVE_SPREAD_MS,
} from './limits.ts'

const SLOW_MS = 4_000

test('the greater id leaves the smaller one as long as dials take', () => {
  const { dials, found, advance } = playMachines('m', { tookMs: () => SLOW_MS })
  found('z')
  advance(SLOW_MS + 10)
  found('a')
  advance(GREATER_ID_WAITS_MS + SLOW_MS - 100)
  expect(dials.map(({ peer }) => peer)).toEqual(['z'])
  advance(200)
  expect(dials.map(({ peer }) => peer)).toEqual(['z', 'a'])
})

test('the greater id leaves the smaller one as long as its own first dials have taken so far', () => {
  const { dials, found, advance } = playMachines('m', { tookMs: () => SLOW_MS })
  found('z')
  found('a')
  advance(SLOW_MS - 10)
  expect(dials.map(({ peer }) => peer)).toEqual(['z'])
  advance(GREATER_ID_WAITS_MS + SLOW_MS)
  expect(dials.map(({ peer }) => peer)).toEqual(['z', 'a'])
})

test('one dial that took very long, as over a bad line, holds others up for some seconds at most', () => {
  const { dials, found, advance } = playMachines('m', {
    tookMs: ({ peer }) => (peer === 'z' ? 9_000 : 0),
  })
  found('z')
  advance(9_010)
  found('a')
  advance(GREATER_ID_WAITS_MS + MAX_DIAL_TOOK_MS)
  expect(dials.map(({ peer }) => peer)).toEqual(['z', 'a'])
  // quick ones count little by little
  found('b')
  advance(GREATER_ID_WAITS_MS + MAX_DIAL_TOOK_MS - 1_000)
  expect(dials.at(-1)?.peer).toBe('b')
})

test('a relay leaves the direct dial as long as dials take, and comes at once when that fails', () => {
  const { dials, found, advance } = playMachines('a', {
    answer: ({ peer, route }) => (peer === 'down' && route === 'direct' ? 'fails' : 'connects'),
    tookMs: ({ peer }) => (peer === 'down' ? 10 : SLOW_MS),
  })
  found('first')
  advance(SLOW_MS + 10)
  found('second', [DIRECT, RELAYED])
  found('down', [DIRECT, RELAYED])
  advance(RELAY_STAGGER_MS + SPECULATIVE_SPREAD_MS)
  const routesTo = (peer: string) => dials.filter((dial) => dial.peer === peer).map(({ route }) => route)
  expect(routesTo('down')).toEqual(['direct', 'relay'])
  advance(60_000)
  expect(routesTo('second')).toEqual(['direct'])
})

test('the greater id gives its dial up when the smaller one was quicker; the smaller one goes on', () => {
  const given = (self: string, peer: string) => {
    const played = playMachines(self, { answer: () => 'hangs' })
    played.found(peer)
    played.advance(GREATER_ID_WAITS_MS + 10)
    expect(played.dials).toHaveLength(1)
    return { ...played, abandoned: () => played.effects.some(({ effect }) => effect.type === 'abandon') }
  }
  const greater = given('m', 'a')
  // AutoNAT closes its own connection
  greater.connect('a', { outbound: false, dialsBack: true })
  expect(greater.abandoned()).toBe(false)
  greater.connect('a', { outbound: false })
  expect(greater.abandoned()).toBe(true)
  const smaller = given('m', 'z')
  smaller.connect('z', { outbound: false })
  expect(smaller.abandoned()).toBe(false)
})

test('where handshakes are not done in their time fewer are begun at once, and more again when they are', () => {
  let isBusy = true
  const { dials, found, advance } = playMachines('a', {
    answer: () => (isBusy ? 'slow' : 'connects'),
    tookMs: () => (isBusy ? DIAL_TIMEOUT_MS : 100),
  })
  for (let peer = 0; peer < 200; peer++) found(`z${peer}`, [DIRECT], 'member')
  const begunWithin = (ms: number) => {
    const before = dials.length
    advance(ms)
    return dials.length - before
  }
  expect(begunWithin(10)).toBe(MAX_PARALLEL_DIALS)
  const rounds = Array.from({ length: 5 }, () => begunWithin(DIAL_TIMEOUT_MS))
  expect(rounds).toEqual([8, 4, 4, 4, 4])
  isBusy = false
  advance(DIAL_TIMEOUT_MS)
  expect(begunWithin(2_000)).toBeGreaterThan(50)
})

test('where nobody answers as many are dialled at once as ever', () => {
  const { dials, found, advance } = playMachines('a', {
    answer: () => 'fails',
    tookMs: () => DIAL_TIMEOUT_MS,
  })
  for (let peer = 0; peer < 200; peer++) found(`z${peer}`, [DIRECT], 'member')
  advance(3 * DIAL_TIMEOUT_MS + 10)
  expect(dials.length).toBe(4 * MAX_PARALLEL_DIALS)
})

test('a peer that others tell of all the time is dialled more seldom with each failure, at a new address soon', () => {
  const { dials, found, advance } = playMachines('a', { answer: () => 'fails' })
  for (let second = 0; second < 200; second++) {
    found('z')
    advance(1_000)
  }
  expect(dials.length).toBeGreaterThan(10)
  expect(dials.length).toBeLessThan(20)
  const before = dials.length
  found('z', [{ text: '/ip4/192.0.2.7/tcp/4001', relay: undefined }])
  advance(2_100)
  expect(dials.length).toBe(before + 1)
})

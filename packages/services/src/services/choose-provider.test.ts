import { parsePeerId } from '@mesh/core'
import { createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { chooseProvider, type ProviderState } from './choose-provider.ts'

const PEER = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')

/** States by the names of their services. */
function choose(states: Readonly<Record<string, Partial<Omit<ProviderState, 'provider'>>>>, rounds = 20) {
  const random = createSeededRandom(1)
  const all = Object.entries(states).map(([service, state]) => ({
    provider: { peer: PEER, service },
    hasFailed: false,
    path: { path: 'direct', rttMs: 10 } as const,
    connections: 0,
    ...state,
  }))
  const chosen = new Set(Array.from({ length: rounds }, () => chooseProvider(all, random)?.service))
  return chosen.has(undefined) ? [] : Object.keys(states).filter((service) => chosen.has(service))
}

const direct = (rttMs: number | undefined) => ({ path: { path: 'direct', rttMs } as const })
const relayed = (rttMs: number) => ({ path: { path: 'relayed', rttMs } as const })

test('a direct path goes before a shorter relayed one, and both before one that is not connected', () => {
  expect(choose({ a: relayed(1), b: direct(200), c: { path: undefined } })).toEqual(['b'])
  expect(choose({ a: relayed(90), c: { path: undefined } })).toEqual(['a'])
  expect(choose({})).toEqual([])
})

test('a provider that failed is the last, whatever its path is', () => {
  expect(choose({ a: { hasFailed: true }, b: { path: undefined } })).toEqual(['b'])
  expect(choose({ a: { hasFailed: true } })).toEqual(['a'])
})

test('the shorter round trip goes first; small differences, and unknown ones, count as equal', () => {
  expect(choose({ a: direct(40), b: direct(10) })).toEqual(['b'])
  expect(choose({ a: direct(14), b: direct(10) })).toEqual(['a', 'b'])
  expect(choose({ a: direct(120), b: direct(100) })).toEqual(['a', 'b'])
  expect(choose({ a: direct(undefined), b: direct(10), c: direct(30) })).toEqual(['a', 'b'])
})

test('of equal ones the one with the fewest connections is taken', () => {
  expect(choose({ a: { connections: 2 }, b: { connections: 1 }, c: { connections: 1 } })).toEqual(['b', 'c'])
  // connections do not make a far one nearer
  expect(choose({ a: { connections: 9 }, b: direct(90) })).toEqual(['a'])
})

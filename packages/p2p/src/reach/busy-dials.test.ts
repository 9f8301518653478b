/** Dials that take long, fail, or are not needed any more. */
import { expect, test } from 'vitest'
import { DIRECT, playMachines } from '../../test/played-machines.ts'
import { DIAL_TIMEOUT_MS, GREATER_ID_WAITS_MS, MAX_PARALLEL_DIALS } from './limits.ts'

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

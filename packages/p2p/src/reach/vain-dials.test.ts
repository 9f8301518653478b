/** Peers that are nowhere, as a member can tell of or leave behind as many as it likes. */
import { expect, test } from 'vitest'
import { DIRECT, playMachines } from '../../test/played-machines.ts'
import { MAX_FURTHER_VAIN_DIALS, MAX_VAIN_DIALS_PER_MINUTE } from './limits.ts'

const LIAR = '198.51.100.1'

test('members that are nowhere are dialled so often in a minute, however many and however often they failed', () => {
  const { dials, found, advance, now } = playMachines('m', { answer: () => 'fails' })
  for (let at = 0; at < 600; at++) found(`n${at}`, [DIRECT], 'member', LIAR)
  for (let minute = 0; minute < 5; minute++) {
    advance(60_000)
    const ofMinute = dials.filter(({ at }) => at > now() - 60_000)
    expect(ofMinute.length).toBeLessThanOrEqual(MAX_VAIN_DIALS_PER_MINUTE)
  }
  expect(dials.length).toBeGreaterThan(4 * MAX_VAIN_DIALS_PER_MINUTE)
})

test('what another address tells of, and what a person named, is dialled beside them', () => {
  const { dials, found, advance } = playMachines('m', {
    answer: ({ peer }) => (peer.startsWith('n') ? 'fails' : 'connects'),
  })
  for (let at = 0; at < 600; at++) found(`n${at}`, [DIRECT], 'member', LIAR)
  advance(30_000)
  expect(dials).toHaveLength(MAX_VAIN_DIALS_PER_MINUTE)
  found('z', [DIRECT], 'found', '198.51.100.2')
  found('y', [DIRECT], 'configured')
  advance(100)
  expect(dials.slice(MAX_VAIN_DIALS_PER_MINUTE).map(({ peer }) => peer)).toEqual(['y', 'z'])
})

test('addresses that tell of few peers have some dials each, up to a bound for all', () => {
  const { dials, found, advance } = playMachines('m', { answer: () => 'fails' })
  for (let at = 0; at < 900; at++) found(`n${at}`, [DIRECT], 'member', `192.0.2.${at % 90}`)
  advance(30_000)
  expect(dials).toHaveLength(MAX_VAIN_DIALS_PER_MINUTE + MAX_FURTHER_VAIN_DIALS)
})

test('dials that succeed are not counted', () => {
  const { dials, found, advance } = playMachines('m')
  for (let at = 0; at < 400; at++) found(`n${at}`, [DIRECT], 'member', LIAR)
  advance(10_000)
  expect(dials).toHaveLength(400)
})

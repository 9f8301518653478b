import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { RELAY_RESERVATIONS } from './limits.ts'
import { ReservationLimits } from './reservation-limits.ts'

const { all: MAX_RELAY_RESERVATIONS, perAddress: MAX_RELAY_RESERVATIONS_PER_ADDRESS } = RELAY_RESERVATIONS

function createShares() {
  const clock = createManualClock()
  const gone = new Set<string>()
  const ended: string[] = []
  const shares = new ReservationLimits({
    clock,
    reservationMs: 60_000,
    isHere: (peer) => !gone.has(peer),
    end: (peer) => void ended.push(peer),
  })
  /** So many keys of three addresses have them all. */
  const fill = () => {
    for (let at = 0; at < MAX_RELAY_RESERVATIONS; at++)
      expect(shares.take(`sybil${at}`, `192.0.2.${at % 3}`)).toBe(true)
  }
  return { clock, shares, gone, ended, fill }
}

test('one address with many keys has a part of the reservations, until they end', async () => {
  const { clock, shares } = createShares()
  for (let at = 0; at < MAX_RELAY_RESERVATIONS_PER_ADDRESS; at++)
    expect(shares.take(`sybil${at}`, '192.0.2.66')).toBe(true)
  expect(shares.take('one more', '192.0.2.66')).toBe(false)
  // who has one renews it, and others are not concerned
  expect(shares.take('sybil0', '192.0.2.66')).toBe(true)
  expect(shares.take('honest', '192.0.2.1')).toBe(true)
  await clock.advance(60_001)
  expect(shares.take('one more', '192.0.2.66')).toBe(true)
})

test('where three addresses have all, one of theirs makes way for each that comes from another', () => {
  const { shares, ended, fill } = createShares()
  fill()
  for (let at = 0; at < 40; at++) expect(shares.take(`honest${at}`, `198.51.100.${at}`)).toBe(true)
  expect(ended).toHaveLength(40)
  expect(ended.every((peer) => peer.startsWith('sybil'))).toBe(true)
  // who made way takes no place of others
  expect(shares.take(ended[0] ?? '', '192.0.2.0')).toBe(false)
  expect(shares.take('sybil0', '192.0.2.0')).toBe(true)
})

test('those of peers that are gone make way first', () => {
  const { shares, gone, ended, fill } = createShares()
  fill()
  gone.add('sybil7')
  expect(shares.take('honest', '198.51.100.1')).toBe(true)
  expect(ended).toEqual(['sybil7'])
})

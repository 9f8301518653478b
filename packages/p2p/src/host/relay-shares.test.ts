import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_RELAY_RESERVATIONS_PER_ADDRESS } from '../limits.ts'
import { RelayShares } from './relay-shares.ts'

test('one address with many keys has a part of the reservations, until they end', async () => {
  const clock = createManualClock()
  const shares = new RelayShares(clock, 60_000)
  for (let at = 0; at < MAX_RELAY_RESERVATIONS_PER_ADDRESS; at++)
    expect(shares.take(`sybil${at}`, '192.0.2.66')).toBe(true)
  expect(shares.take('one more', '192.0.2.66')).toBe(false)
  // who has one renews it, and others are not concerned
  expect(shares.take('sybil0', '192.0.2.66')).toBe(true)
  expect(shares.take('honest', '192.0.2.1')).toBe(true)
  await clock.advance(60_001)
  expect(shares.take('one more', '192.0.2.66')).toBe(true)
})

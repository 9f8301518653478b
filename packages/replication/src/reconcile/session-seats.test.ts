import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import {
  ALL_SESSIONS_PER_MINUTE,
  MAX_PENDING_PARTS,
  MAX_SESSIONS,
  MAX_SESSIONS_PER_ADDRESS,
  SESSIONS_PER_MINUTE_PER_ADDRESS,
} from '../limits.ts'
import type { ReplicationChannel } from '../ports.ts'
import { SessionSeats } from './session-seats.ts'

const channelFrom = (address: string, peer = 'somebody') =>
  ({ peer: peer as PeerId, address }) as unknown as ReplicationChannel

test('the keys of one address have half of the sessions, and all of them no more than there are', () => {
  const seats = new SessionSeats(createManualClock())
  const sit = (address: string, at: number) => {
    const channel = channelFrom(address, `${address} ${at}`)
    return seats.mayCall(channel) ? seats.sit(channel) : undefined
  }
  const own = Array.from({ length: MAX_SESSIONS }, (_, at) => sit('192.0.2.1', at))
  expect(own.filter(Boolean)).toHaveLength(MAX_SESSIONS_PER_ADDRESS)
  const others = Array.from({ length: MAX_SESSIONS }, (_, at) => sit(`198.51.100.${at}`, at))
  expect(others.filter(Boolean)).toHaveLength(MAX_SESSIONS - MAX_SESSIONS_PER_ADDRESS)
  own[0]?.()
  expect(sit('203.0.113.1', 0)).toBeDefined()
})

test('the keys of one address open a part of the sessions of a minute', async () => {
  const clock = createManualClock()
  const seats = new SessionSeats(clock)
  const calls = (address: string, times: number) =>
    Array.from({ length: times }, (_, at) => seats.mayCall(channelFrom(address, `${at}`))).filter(Boolean)
      .length
  expect(calls('192.0.2.1', 1_000)).toBe(SESSIONS_PER_MINUTE_PER_ADDRESS)
  expect(calls('192.0.2.2', 200) + calls('192.0.2.3', 1_000)).toBe(
    ALL_SESSIONS_PER_MINUTE - SESSIONS_PER_MINUTE_PER_ADDRESS,
  )
  await clock.advance(60_000)
  expect(calls('192.0.2.1', 1)).toBe(1)
})

test('when too much waits for an answer, the largest session of the address with the most ends', () => {
  const seats = new SessionSeats(createManualClock())
  const honest = channelFrom('198.51.100.1')
  const [small, large] = [channelFrom('192.0.2.1', 'small'), channelFrom('192.0.2.1', 'large')]
  const share = MAX_PENDING_PARTS / 4
  expect(seats.note(honest, 1.5 * share)).toBeUndefined()
  expect(seats.note(small, share)).toBeUndefined()
  expect(seats.note(large, 1.5 * share)).toBeUndefined()
  // the honest one brings it over the bound, with as much as the largest of the others
  expect(seats.note(honest, 1.6 * share)).toBe(large)
  expect(seats.note(honest, 2 * share)).toBeUndefined()
})

import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import {
  ALL_SESSIONS_PER_MINUTE,
  MAX_PENDING_PARTS,
  MAX_SESSIONS,
  MAX_SESSIONS_PER_ADDRESS,
  SESSIONS_PER_MINUTE_PER_ADDRESS,
  SLOW_SESSION_MS,
  STALE_SESSION_MS,
} from '../limits.ts'
import type { ReplicationChannel } from '../ports.ts'
import { SessionSeats } from './session-seats.ts'

const channelFrom = (address: string, peer = 'somebody') =>
  ({ peer: peer as PeerId, address }) as unknown as ReplicationChannel

test('the keys of one address have half of the sessions, and all of them no more than there are', () => {
  const seats = new SessionSeats(createManualClock())
  const sit = (address: string, at: number) => {
    const channel = channelFrom(address, `${address} ${at}`)
    return seats.mayCall(channel) ? seats.sit(channel, { waitedMs: 0 }) : undefined
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
  // of what is left each has half
  expect(calls('192.0.2.2', 1_000)).toBe((ALL_SESSIONS_PER_MINUTE - SESSIONS_PER_MINUTE_PER_ADDRESS) / 2)
  expect(calls('192.0.2.3', 1_000)).toBeGreaterThan(50)
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

test('where all seats are taken the slowest of the address with the most makes way, and none that is not slow', () => {
  const seats = new SessionSeats(createManualClock())
  const ended: unknown[] = []
  const sit = (address: string, waitedMs: number) => {
    const channel = {
      ...channelFrom(address),
      abort: () => ended.push(waitedMs),
    } as unknown as ReplicationChannel
    const mayCall = seats.mayCall(channel)
    if (mayCall) seats.sit(channel, { waitedMs })
    return mayCall
  }
  for (let at = 0; at < MAX_SESSIONS_PER_ADDRESS; at++) sit('192.0.2.1', STALE_SESSION_MS - 1 + at)
  for (let at = MAX_SESSIONS_PER_ADDRESS; at < MAX_SESSIONS; at++) sit(`198.51.100.${at}`, 1e9)
  expect(sit('203.0.113.1', 0)).toBe(true)
  expect(ended).toEqual([STALE_SESSION_MS + MAX_SESSIONS_PER_ADDRESS - 2])
})

test('nobody who is not slow makes way', () => {
  const seats = new SessionSeats(createManualClock())
  for (let at = 0; at < MAX_SESSIONS; at++) {
    const channel = channelFrom(`192.0.2.${at % 2}`, `${at}`)
    expect(seats.mayCall(channel)).toBe(true)
    seats.sit(channel, { waitedMs: SLOW_SESSION_MS - 1 })
  }
  expect(seats.mayCall(channelFrom('203.0.113.1'))).toBe(false)
})

test('two addresses that have all seats and are slow make way for a third, and not for each other', () => {
  const seats = new SessionSeats(createManualClock())
  const ended: string[] = []
  const sit = (address: string) => {
    const channel = {
      ...channelFrom(address),
      abort: () => ended.push(address),
    } as unknown as ReplicationChannel
    if (!seats.mayCall(channel)) return false
    seats.sit(channel, { waitedMs: SLOW_SESSION_MS })
    return true
  }
  for (let at = 0; at < MAX_SESSIONS; at++) sit(`192.0.2.${at % 2}`)
  expect(sit('192.0.2.0')).toBe(false)
  expect([sit('203.0.113.1'), sit('203.0.113.1')]).toEqual([true, true])
  expect(ended).toEqual(['192.0.2.0', '192.0.2.1'])
  for (let at = 0; at < 4; at++) sit('192.0.2.0')
  expect(ended).toHaveLength(2)
})

test('sessions that this node opened take no seats from others', () => {
  const seats = new SessionSeats(createManualClock())
  for (let at = 0; at < MAX_SESSIONS; at++) seats.sit(channelFrom(`192.0.2.${at}`), undefined)
  expect(seats.mayCall(channelFrom('203.0.113.1'))).toBe(true)
})

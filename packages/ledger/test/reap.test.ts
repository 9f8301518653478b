import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { leaderOf } from '../src/index.ts'
import { createMember, createPair, exchange } from './members.ts'

test('the leader ends what its owner left behind; everyone agrees who that is', async () => {
  const { clock, a, b } = await createPair()
  const gone = createMember(3, clock)
  await gone.beat()
  gone.ledger.put('dns', 'left', '{}')
  gone.ledger.put('notes', 'open', '1')
  await clock.advance(20)
  exchange(a, b, gone)
  await clock.advance(481_000)
  await a.beat()
  await b.beat()
  exchange(a, b)
  const ids = [a, b, gone].map(({ ledger }) => ledger.self)
  expect(a.ledger.leader()).toBe(b.ledger.leader())
  const results = [a.ledger.reap(), b.ledger.reap()]
  await clock.advance(20)
  const elected = leaderOf(ids.toSorted())
  // Heartbeats of the last 15 minutes elect, so the one that left may still be it: then nobody reaps yet.
  const isLeaderHere = elected !== gone.ledger.self
  expect(results.map(({ ended }) => ended).toSorted((one, other) => one - other)).toEqual(
    isLeaderHere ? [0, 2] : [0, 0],
  )
  await clock.advance(420_000)
  await a.beat()
  await b.beat()
  exchange(a, b)
  for (const { ledger } of [a, b]) ledger.reap()
  await clock.advance(20)
  exchange(a, b)
  for (const { ledger } of [a, b]) {
    expect(ledger.snapshot().getLive('dns', 'left')).toBeUndefined()
    expect(ledger.snapshot().get('dns', 'left')?.deleted).toBe(true)
    expect(ledger.snapshot().getLive('healthcheck', gone.ledger.self)).toBeUndefined()
    expect(ledger.snapshot().getLive('notes', 'open')?.value).toBe('1')
  }
})

test('who wakes from a long sleep sees all others as gone, and ends nothing', async () => {
  const { clock, a, b } = await createPair()
  b.ledger.put('dns', 'x', '{}')
  await clock.advance(20)
  exchange(a, b)
  await clock.advance(3_600_000)
  expect(a.ledger.leader()).toBeUndefined()
  expect(a.ledger.reap()).toEqual({ collected: 0, ended: 0 })
})

test('tombstones are collected by everyone when their time has come, not before', async () => {
  const clock = createManualClock()
  const { ledger } = createMember(1, clock)
  await ledger.put('notes', 'k', '1').settled
  ledger.delete('notes', 'k')
  await clock.advance(2_700_000)
  expect(ledger.reap().collected).toBe(0)
  await clock.advance(2000)
  expect(ledger.reap().collected).toBe(1)
  expect(ledger.snapshot().size).toBe(0)
})

import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { leaderOf } from '../src/index.ts'
import { DEFAULT_LIVENESS_MS, MAX_COLLECTED_AT_ONCE, OVERDUE_MS } from '../src/limits.ts'
import { createMember, createPair, exchange } from './members.ts'

test('a living leader ends at once what its owner left behind, whoever would win among those that have died', async () => {
  const { clock, a, b } = await createPair()
  const gone = [3, 9, 12, 14].map((byte) => createMember(byte, clock))
  for (const { ledger, beat } of gone) {
    await beat()
    ledger.put('dns', `left by ${ledger.self}`, '{}')
    ledger.put('notes', 'open', '1')
  }
  await clock.advance(20)
  exchange(a, b, ...gone)
  const everyone = [a, b, ...gone].map(({ ledger }) => ledger.self)
  // legacy members have nobody to reap now
  const elected = leaderOf(everyone.toSorted())
  expect(gone.map(({ ledger }) => ledger.self)).toContain(elected)
  await clock.advance(481_000)
  await a.beat()
  await b.beat()
  exchange(a, b)
  expect(a.ledger.leader()).toBe(leaderOf([a.ledger.self, b.ledger.self].toSorted()))
  expect(b.ledger.leader()).toBe(a.ledger.leader())
  const results = [a.ledger.reap(), b.ledger.reap()]
  expect(results.map(({ ended }) => ended).toSorted((one, other) => one - other)).toEqual([0, 8])
  await clock.advance(20)
  exchange(a, b)
  for (const { ledger } of [a, b]) {
    for (const { self } of gone.map((member) => member.ledger)) {
      expect(ledger.snapshot().getLive('dns', `left by ${self}`)).toBeUndefined()
      expect(ledger.snapshot().get('dns', `left by ${self}`)?.deleted).toBe(true)
      expect(ledger.snapshot().getLive('healthcheck', self)).toBeUndefined()
    }
    expect(ledger.snapshot().getLive('notes', 'open')?.value).toBe('1')
  }
})

test('whom this node keeps out is no leader: nobody would take what it ends', async () => {
  const { clock, a, b } = await createPair()
  const winner = a.ledger.leader() === a.ledger.self ? a : b
  const other = winner === a ? b : a
  const strict = createMember(7, clock, { admits: (owner) => owner !== winner.ledger.self })
  exchange(a, b, strict)
  expect(strict.ledger.leader()).toBe(other.ledger.self)
})

test('what a leader does not end one of those that live ends, when it is overdue and the draw falls on that one', async () => {
  const { clock, a, b } = await createPair()
  const idle = a.ledger.leader() === a.ledger.self ? a : b
  const other = idle === a ? b : a
  const gone = createMember(3, clock)
  await gone.beat()
  gone.ledger.put('dns', 'left', '{}')
  await clock.advance(20)
  exchange(a, b, gone)
  const later = async (ms: number) => {
    await clock.advance(ms)
    await a.beat()
    await b.beat()
    exchange(a, b)
    return idle.ledger.leader() === idle.ledger.self
  }
  expect(await later(OVERDUE_MS)).toBe(true)
  expect(other.ledger.reap(0).ended).toBe(0)
  expect(await later(DEFAULT_LIVENESS_MS)).toBe(true)
  expect([other.ledger.reap().ended, other.ledger.reap(0.5).ended]).toEqual([0, 0])
  expect(other.ledger.reap(0.49).ended).toBe(2)
  await clock.advance(20)
  exchange(a, b)
  for (const { ledger } of [a, b]) expect(ledger.snapshot().get('dns', 'left')?.deleted).toBe(true)
})

test('who wakes from a long sleep sees all others as gone, and ends nothing', async () => {
  const { clock, a, b } = await createPair()
  b.ledger.put('dns', 'x', '{}')
  await clock.advance(20)
  exchange(a, b)
  await clock.advance(3_600_000)
  expect(a.ledger.leader()).toBeUndefined()
  expect(a.ledger.reap()).toEqual({ collected: 0, hasMore: false, ended: 0 })
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

test('many tombstones are collected in several calls', async () => {
  const clock = createManualClock()
  const { ledger } = createMember(1, clock)
  const count = MAX_COLLECTED_AT_ONCE + 1
  for (let at = 0; at < count; at++) ledger.put('notes', `k${at}`, '1')
  await clock.advance(1_000)
  for (let at = 0; at < count; at++) ledger.delete('notes', `k${at}`)
  await clock.advance(2_702_000)
  expect(ledger.reap()).toEqual({ collected: MAX_COLLECTED_AT_ONCE, hasMore: true, ended: 0 })
  expect(ledger.reap()).toEqual({ collected: 1, hasMore: false, ended: 0 })
  expect(ledger.snapshot().size).toBe(0)
})

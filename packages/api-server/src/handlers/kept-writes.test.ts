import { createLedger } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_KEPT_WRITES } from '../limits.ts'
import { KeptWrites, timedValue } from './kept-writes.ts'

const position = { bucket: 'worker', key: 'w1' }

function createWorld() {
  const clock = createManualClock(Date.UTC(2026, 0, 1))
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock })
  const kept = new KeptWrites(ledger, clock)
  const held = () => ledger.snapshot().getLive('worker', 'w1')?.value
  return { clock, ledger, kept, held }
}

const request = {
  ...position,
  valueText: '{"Name":"w1","Big":9007199254740993}',
  everyMs: 20_000,
  timeField: 'LastSeen',
}

test('a kept write is renewed with the time of each renewal, until its key is forgotten', async () => {
  const { clock, kept, held } = createWorld()
  kept.keep(request)
  await clock.advance(20_100)
  expect(held()).toBe('{"Name":"w1","Big":9007199254740993,"LastSeen":"2026-01-01T00:00:20.000Z"}')
  await clock.advance(20_000)
  expect(held()).toContain('00:00:40')
  kept.forget(position)
  await clock.advance(60_000)
  expect(held()).toContain('00:00:40')
})

test('at the end what is still this node’s is deleted', async () => {
  const { clock, ledger, kept, held } = createWorld()
  kept.keep(request)
  await clock.advance(20_100)
  const ended = kept.stop()
  await clock.advance(100)
  await ended
  expect(held()).toBeUndefined()
  expect(ledger.snapshot().get('worker', 'w1')?.deleted).toBe(true)
  await clock.advance(60_000)
  expect(held()).toBeUndefined()
})

test('a bucket that is deleted is renewed no more', async () => {
  const { clock, kept, held } = createWorld()
  kept.keep(request)
  kept.forgetBucket('worker')
  await clock.advance(60_000)
  expect(held()).toBeUndefined()
})

test('there are only so many, and a kept one may be put again', () => {
  const { kept } = createWorld()
  for (let at = 0; at < MAX_KEPT_WRITES; at++) kept.keep({ ...request, key: `w${at}` })
  expect(() => kept.checkRoom({ bucket: 'worker', key: 'more' })).toThrow(/renews 256 writes/)
  kept.checkRoom(position)
})

test('only an object takes a time', () => {
  expect(timedValue({ valueText: '5', timeField: undefined }, 0)).toBe('5')
  for (const valueText of ['5', '[]', 'null', '"x"']) {
    expect(() => timedValue({ valueText, timeField: 'LastSeen' }, 0)).toThrow('only a JSON object')
  }
})

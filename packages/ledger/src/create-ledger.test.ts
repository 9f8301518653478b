import { heartbeatValue } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLedger, createSigner, encodeBlock } from './index.ts'

const seed = (byte: number) => new Uint8Array(32).fill(byte)

function openLedger(byte: number, clock = createManualClock()) {
  return { clock, ledger: createLedger({}, { signer: createSigner(seed(byte)), clock }) }
}

test('a put is committed at once when idle and can be read', async () => {
  const { ledger } = openLedger(1)
  const outcome = await ledger.put('notes', 'a', '"b"').settled
  expect(outcome).toEqual({ state: 'committed', block: 1 })
  expect(ledger.snapshot().getLive('notes', 'a')).toMatchObject({
    value: '"b"',
    owner: ledger.self,
    deleted: false,
  })
  expect(ledger.snapshot().head.index).toBe(1)
})

test('a block carries entries to another ledger, which then has the same digest', async () => {
  const clock = createManualClock()
  const { ledger: a } = openLedger(1, clock)
  const { ledger: b } = openLedger(2, clock)
  await a.put('healthcheck', a.self, heartbeatValue(clock.now())).settled
  const wait = a.put('users', a.self, JSON.stringify({ PeerID: a.self, Timestamp: 'x' })).settled
  await clock.advance(20)
  await wait
  const result = await b.receiveBlock(encodeBlock(a.snapshot().entries()), a.self)
  expect(result).toEqual({ accepted: 2, unchanged: 0, rejected: [] })
  expect(b.snapshot().digest()).toEqual(a.snapshot().digest())
  expect(b.snapshot().digest().entries).toBe(1)
  expect(() => b.put('users', a.self, '{}')).toThrow(expect.objectContaining({ code: 'ledger.not_owner' }))
})

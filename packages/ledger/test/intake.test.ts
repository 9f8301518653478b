import { heartbeatValue } from '@mesh/core'
import { TURN_MS } from '@mesh/core/limits'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLedger, encodeBlock, type KeyedEntry } from '../src/index.ts'
import { createNodeSigner } from '../src/node.ts'
import { forge } from './members.ts'

const [signer, author, other] = [1, 2, 3].map((byte) => createNodeSigner(new Uint8Array(32).fill(byte))) as [
  ReturnType<typeof createNodeSigner>,
  ReturnType<typeof createNodeSigner>,
  ReturnType<typeof createNodeSigner>,
]

/** Every verification takes one millisecond of the clock. */
function openSlow(clock: ManualClock) {
  let spentMs = 0
  const slow = { ...clock, monotonic: () => clock.monotonic() + spentMs, after: clock.after }
  const verify = () => {
    spentMs++
    return true
  }
  const ledger = createLedger({}, { signer, clock: slow, verify })
  return { ledger, spent: () => spentMs }
}

const rows = (count: number, prefix = 'k'): KeyedEntry[] =>
  Array.from({ length: count }, (_, n) => forge(author, 'notes', `${prefix}${n}`))

test('a long block is taken in slices, each within a turn of the event loop', async () => {
  const clock = createManualClock()
  const { ledger, spent } = openSlow(clock)
  const received = ledger.receiveBlock(encodeBlock(rows(50)), author.peerId)
  expect(ledger.snapshot().size).toBeLessThanOrEqual(TURN_MS)
  await clock.advance(10)
  expect(await received).toEqual({ accepted: 50, unchanged: 0, rejected: [] })
  expect(spent()).toBe(50)
})

test('another author does not wait behind a busy one, and one author is heard in order', async () => {
  const clock = createManualClock()
  const { ledger } = openSlow(clock)
  const long = ledger.receiveBlock(encodeBlock(rows(60)), author.peerId)
  const later = forge(author, 'notes', 'k0', { version: 2n, value: '"later"' })
  const next = ledger.receiveBlock(encodeBlock([later]), author.peerId)
  const quick = ledger.receiveBlock(encodeBlock([forge(other, 'notes', 'quick')]), other.peerId)
  const ends: string[] = []
  const all = [long.then(() => ends.push('long')), next.then(() => ends.push('next'))]
  all.push(quick.then(() => ends.push('quick')))
  await clock.advance(500)
  await Promise.all(all)
  expect(ends).toEqual(['quick', 'long', 'next'])
  expect(ledger.snapshot().get('notes', 'k0')?.value).toBe('"later"')
})

test('what is held already is not verified again', async () => {
  const clock = createManualClock()
  const { ledger, spent } = openSlow(clock)
  const block = encodeBlock(rows(5))
  await ledger.receiveBlock(block, author.peerId)
  expect(await ledger.receiveBlock(block, other.peerId)).toEqual({ accepted: 0, unchanged: 5, rejected: [] })
  expect(spent()).toBe(5)
})

test('what waits of one author is bounded; the rest is refused and counted', async () => {
  const clock = createManualClock()
  const { ledger } = openSlow(clock)
  const first = ledger.receiveBlock(encodeBlock(rows(15)), author.peerId)
  const more = Array.from({ length: 1100 }, () => ledger.receiveBlock(encodeBlock([]), author.peerId))
  await clock.advance(2000)
  expect((await first).accepted).toBe(15)
  const refused = (await Promise.all(more)).filter(({ rejected }) => rejected.length > 0)
  expect(refused.length).toBe(1100 - 1023)
  expect(ledger.rejections()).toEqual({ TOO_LARGE: refused.length })
})

test('a block on its way when the ledger stops ends quietly', async () => {
  const clock = createManualClock()
  const { ledger } = openSlow(clock)
  const received = ledger.receiveBlock(encodeBlock(rows(50)), author.peerId)
  await ledger.stop()
  expect((await received).accepted).toBe(0)
  const { size } = ledger.snapshot()
  expect(size).toBeLessThanOrEqual(TURN_MS)
  await clock.advance(1000)
  expect(ledger.snapshot().size).toBe(size)
})

test('heartbeats of a block do not decide about its other entries', async () => {
  const clock = createManualClock()
  const ledger = createLedger({}, { signer, clock })
  const version = BigInt(clock.now()) * 1_000_000n
  const beat = forge(author, 'healthcheck', author.peerId, { value: heartbeatValue(clock.now()), version })
  const held = forge(author, 'dns', 'x', { version, value: '{}' })
  const rival = forge(other, 'dns', 'x', { version: version + 1n, value: '{"1":"10.1.0.1"}' })
  await ledger.receiveBlock(encodeBlock([held]), author.peerId)
  const result = await ledger.receiveBlock(encodeBlock([beat, rival]), other.peerId)
  expect(result.accepted).toBe(2)
  expect(ledger.snapshot().get('dns', 'x')?.owner).toBe(other.peerId)
})

test('many authors at once take turns', async () => {
  const clock = createManualClock()
  const { ledger } = openSlow(clock)
  const authors = Array.from({ length: 40 }, (_, n) => createNodeSigner(new Uint8Array(32).fill(100 + n)))
  const received = authors.map(({ peerId }, n) => ledger.receiveBlock(encodeBlock(rows(40, `${n}/`)), peerId))
  const begunAtFirstEnd = Promise.race(received).then(
    () => new Set([...ledger.snapshot().entries()].map(({ key }) => key.split('/')[0])).size,
  )
  await clock.advance(5_000)
  expect(await begunAtFirstEnd).toBeGreaterThanOrEqual(39)
  await Promise.all(received)
  expect(ledger.snapshot().size).toBe(1_600)
})

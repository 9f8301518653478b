import { heartbeatValue, parseCidr, type PeerId, peerIdFromPublicKey, silentLogger } from '@mesh/core'
import { TURN_MS } from '@mesh/core/limits'
import { createLedger, createSigner, type Ledger } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createWorld, peerNamed } from '../../test/table-world.ts'
import { STEP_ENTRIES } from '../limits.ts'
import { MAX_PAST_ADDRESSES_PER_PEER, PAST_ADDRESS_MS, SAVE_PAST_SOON_MS } from './limits.ts'
import { PastAddresses } from './past-addresses.ts'

const HOUR = 3_600_000

function createStore(text?: string) {
  const store = {
    text,
    read: () => store.text,
    write: (next: string) => {
      store.text = next
    },
  }
  return store
}

/** Two ledgers around one clock: what `theirs` puts, `ours` takes. */
function createStage() {
  const clock = createManualClock(Date.UTC(2026, 10, 21))
  const [ours, theirs] = [1, 2].map((byte) =>
    createLedger({}, { signer: createSigner(new Uint8Array(32).fill(byte)), clock }),
  ) as [Ledger, Ledger]
  const put = async (address: string) => {
    theirs.put('healthcheck', theirs.self, heartbeatValue(clock.now()))
    theirs.put('machines', address, JSON.stringify({ PeerID: theirs.self }))
    await clock.advance(20)
    ours.merge(theirs.snapshot().entries(), theirs.self)
  }
  const remember = (store = createStore(), range = parseCidr('10.1.0.0/24')) =>
    new PastAddresses({ range, ledger: ours, store, clock, log: silentLogger })
  return { clock, ours, theirs, put, remember }
}

const peerOf = (byte: number): PeerId => peerIdFromPublicKey(new Uint8Array(32).fill(byte))

test('what others have is remembered for 30 days after they had it last, over restarts', async () => {
  const { clock, ours, theirs, put, remember } = createStage()
  const store = createStore()
  const past = remember(store)
  await put('10.1.0.5')
  await put('fd00::5')
  expect(past.ofOthers()).toEqual(['10.1.0.5'])
  await clock.advance(SAVE_PAST_SOON_MS)
  expect(JSON.parse(store.text ?? '')).toMatchObject({ '10.1.0.5': { peer: theirs.self } })
  // still there a day later: that is when they had it last
  await clock.advance(24 * HOUR)
  theirs.delete('machines', '10.1.0.5')
  await clock.advance(20)
  ours.merge(theirs.snapshot().entries(), theirs.self)
  expect(past.ofOthers()).toEqual(['10.1.0.5'])
  past.stop()
  await clock.advance(PAST_ADDRESS_MS - HOUR)
  const again = remember(store)
  expect(again.ofOthers()).toEqual(['10.1.0.5'])
  await clock.advance(2 * HOUR)
  expect(again.ofOthers()).toEqual([])
  again.stop()
})

test('what this node has itself is nobody else’s', async () => {
  const { clock, ours, put, remember } = createStage()
  const past = remember()
  await put('10.1.0.5')
  // the lease of the other ends, and this node takes the address
  await clock.advance(481_000)
  ours.put('healthcheck', ours.self, heartbeatValue(clock.now()))
  ours.put('machines', '10.1.0.5', JSON.stringify({ PeerID: ours.self }))
  await clock.advance(20)
  expect(past.ofOthers()).toEqual([])
  past.stop()
})

test('one member fills but a few places', async () => {
  const { put, remember } = createStage()
  const past = remember()
  for (let at = 1; at <= MAX_PAST_ADDRESSES_PER_PEER + 4; at++) await put(`10.1.0.${at}`)
  expect(past.ofOthers()).toHaveLength(MAX_PAST_ADDRESSES_PER_PEER)
  past.stop()
})

test('addresses outside of the range are none of its', async () => {
  const { put, remember } = createStage()
  const past = remember()
  await put('10.2.0.5')
  await put('10.1.0.5')
  expect(past.ofOthers()).toEqual(['10.1.0.5'])
  past.stop()
})

test('thousands of machines are looked through in turns', async () => {
  const [COUNT, LOOK_MS] = [2_000, 0.1]
  const world = createWorld()
  for (let at = 0; at < COUNT; at++) world.machine(`10.0.${at >> 8}.${at & 255}`, peerNamed(`member ${at}`))
  const held = world.snapshot()
  let looks = 0
  const perTurn: number[] = []
  const snapshot = {
    ...held,
    getLive: (bucket: string, key: string) => {
      looks++
      return held.getLive(bucket, key)
    },
  }
  const manual = createManualClock(Date.UTC(2026, 10, 21))
  const clock = {
    ...manual,
    monotonic: () => manual.monotonic() + looks * LOOK_MS,
    after: (delayMs: number, work: () => void) =>
      manual.after(delayMs, () => {
        const before = looks
        work()
        perTurn.push(looks - before)
      }),
  }
  const ledger = { self: peerOf(1), snapshot: () => snapshot, subscribe: () => () => {} } as unknown as Ledger
  const range = parseCidr('10.0.0.0/8')
  const past = new PastAddresses({ range, ledger, store: createStore(), clock, log: silentLogger })
  const first = looks
  await manual.advance(0)
  await past.ready
  expect(past.ofOthers()).toHaveLength(COUNT)
  expect(Math.max(first, ...perTurn)).toBeLessThanOrEqual(TURN_MS / LOOK_MS + 2 * STEP_ENTRIES)
  past.stop()
})

test('an address of one of thousands of members costs no walk through those of all', () => {
  const world = createWorld()
  const members = Array.from({ length: 1_000 }, (_, at) => peerNamed(`member ${at}`))
  const addresses = Array.from(
    { length: 40 * members.length },
    (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  )
  for (const [at, address] of addresses.entries())
    world.machine(address, members[at % members.length] as PeerId)
  const snapshot = world.snapshot()
  const ledger = { self: peerOf(1), snapshot: () => snapshot, subscribe: () => () => {} } as unknown as Ledger
  const clock = createManualClock(Date.UTC(2026, 10, 21))
  const began = performance.now()
  const past = new PastAddresses({
    range: parseCidr('10.0.0.0/8'),
    ledger,
    store: createStore(),
    clock,
    log: silentLogger,
  })
  past.stop()
  expect(past.ofOthers()).toHaveLength(MAX_PAST_ADDRESSES_PER_PEER * members.length)
  // such walks took a minute and a half
  expect(performance.now() - began).toBeLessThan(20_000)
})

test.each([
  ['no JSON', '{', []],
  ['no object', '[1]', []],
  ['null', 'null', []],
  ['no address', `{"x":{"peer":"${peerOf(3)}","at":1795219200000}}`, []],
  ['no peer', '{"10.1.0.5":{"peer":"x","at":1795219200000}}', []],
  ['no time', `{"10.1.0.5":{"peer":"${peerOf(3)}"}}`, []],
  ['null inside', '{"10.1.0.5":null}', []],
  ['one from the future', `{"10.1.0.5":{"peer":"${peerOf(3)}","at":9e15}}`, ['10.1.0.5']],
])('a file with %s is read as far as it can be', async (_, text, found) => {
  const { clock, remember } = createStage()
  const past = remember(createStore(text))
  expect(past.ofOthers()).toEqual(found)
  await clock.advance(PAST_ADDRESS_MS + HOUR)
  expect(past.ofOthers()).toEqual([])
  past.stop()
})

test('what a member had for a day is lasting, and what many keys claim for a moment is not', async () => {
  const { clock, theirs, put, remember } = createStage()
  const store = createStore(JSON.stringify({ '10.1.0.9': { peer: peerOf(7), at: clock.now() - HOUR } }))
  const past = remember(store)
  await put('10.1.0.5')
  // a file of an earlier version does not tell since when, and is believed
  expect(past.lasting()).toEqual(['10.1.0.9'])
  await clock.advance(SAVE_PAST_SOON_MS)
  past.stop()
  for (let hour = 0; hour < 25; hour++) {
    await clock.advance(HOUR)
    theirs.put('healthcheck', theirs.self, heartbeatValue(clock.now()))
  }
  const again = remember(store)
  expect(again.lasting().toSorted()).toEqual(['10.1.0.5', '10.1.0.9'])
  await put('10.1.0.6')
  expect(again.lasting()).not.toContain('10.1.0.6')
  expect(again.ofOthers()).toContain('10.1.0.6')
  again.stop()
})

/** Two processes with one identity, over ledgers that exchange entries: who finds it out, and what does not mean it. */
import { BUCKETS, silentLogger } from '@mesh/core'
import { createLedger, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createManualClock, createSeededRandom, type ManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { IDENTITY_FORGET_MS } from '../src/limits.ts'
import { SharedIdentityWatch } from '../src/presence/shared-identity.ts'
import { createRetainingStore, createSimSigner, verifySim } from './sim-node.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 27, 12)

type Process = ReturnType<typeof startProcess>

/** A process with an identity, whose number comes from the seed. */
function startProcess(signer: Signer, seed: number, clock: ManualClock, store = createRetainingStore()) {
  const random = createSeededRandom(seed)
  const parts = { signer, verify: verifySim, store, clock, random, logger: silentLogger }
  const ledger = createLedger({}, parts)
  let asked = 0
  const compareSoon = () => asked++
  const watch = new SharedIdentityWatch({ ledger, clock, random, logger: silentLogger, compareSoon })
  const beat = async () => {
    ledger.put(BUCKETS.healthcheck, ledger.self, JSON.stringify(new Date(clock.now()).toISOString()))
    await clock.advance(30)
  }
  const entries = (): KeyedEntry[] => [...ledger.snapshot().entries()]
  return { ledger, watch, beat, entries, asked: () => asked, store }
}

/** All compare their ledgers every ten seconds. */
async function live(clock: ManualClock, ms: number, ...processes: readonly Process[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    for (const from of processes) for (const to of processes) to.ledger.merge(from.entries(), undefined)
    await clock.advance(10_000)
  }
}

function createSurroundings() {
  const clock = createManualClock(START)
  const random = createSeededRandom(1)
  return { clock, signer: createSimSigner(random), otherSigner: createSimSigner(random) }
}

test('two processes find each other out within a minute of the first heartbeat, and others hear of it until one has ended', async () => {
  const { clock, signer, otherSigner } = createSurroundings()
  const original = startProcess(signer, 2, clock)
  const other = startProcess(otherSigner, 3, clock)
  await original.beat()
  const copy = startProcess(signer, 4, clock)
  await copy.beat()
  await live(clock, MINUTE, original, copy, other)
  expect([original, copy].map(({ watch }) => watch.since !== undefined)).toEqual([true, true])
  expect(other.watch.others()).toEqual([original.ledger.self])
  expect(other.watch.since).toBeUndefined()
  expect(other.asked()).toBe(0)
  copy.watch.stop()
  for (let passed = 0; passed < IDENTITY_FORGET_MS + 3 * MINUTE; passed += MINUTE) {
    await original.beat()
    await live(clock, MINUTE, original, other)
  }
  expect(original.watch.since).toBeUndefined()
  expect(other.watch.others()).toEqual([])
  expect(other.ledger.snapshot().getLive(BUCKETS.identities, original.ledger.self)).toBeUndefined()
})

test('old entries of this identity prove nothing, though they come from the future or say that two processes used it', async () => {
  const { clock, signer, otherSigner } = createSurroundings()
  const ahead = createManualClock(START + 90_000)
  const earlier = startProcess(signer, 2, ahead)
  await earlier.beat()
  const record = { Processes: ['00'.repeat(8), '11'.repeat(8)], Shared: true, At: 'then' }
  void earlier.ledger.put(BUCKETS.identities, earlier.ledger.self, JSON.stringify(record))
  await ahead.advance(30)
  earlier.watch.stop()
  const now = startProcess(signer, 3, clock)
  const other = startProcess(otherSigner, 4, clock)
  await now.beat()
  for (let minute = 0; minute < 6; minute++) {
    now.ledger.merge(earlier.entries(), undefined)
    await now.beat()
    await live(clock, MINUTE, now, other)
    expect(now.watch.since).toBeUndefined()
    expect(other.watch.others()).toEqual([])
  }
  expect(now.asked()).toBeGreaterThan(0)
})

test('a restart with its ledger, and one that has lost it, are no second process', async () => {
  const { clock, signer, otherSigner } = createSurroundings()
  const first = startProcess(signer, 2, clock)
  const other = startProcess(otherSigner, 3, clock)
  await first.beat()
  await live(clock, MINUTE, first, other)
  first.watch.stop()
  for (const [seed, store] of [
    [4, first.store],
    [5, createRetainingStore()],
  ] as const) {
    const next = startProcess(signer, seed, clock, store)
    await live(clock, 20_000, next, other)
    await next.beat()
    await live(clock, 3 * MINUTE, next, other)
    expect(next.watch.since).toBeUndefined()
    expect(next.asked()).toBe(0)
    next.watch.stop()
  }
  expect(other.watch.others()).toEqual([])
})

test('nobody else can say it of a member', async () => {
  const { clock, signer, otherSigner } = createSurroundings()
  const member = startProcess(signer, 2, clock)
  const liar = startProcess(otherSigner, 3, clock)
  const record = JSON.stringify({ Processes: ['00'.repeat(8)], Shared: true })
  await member.beat()
  expect(() => liar.ledger.put(BUCKETS.identities, member.ledger.self, record)).toThrow('must name this node')
  const forged = { ...member.entries()[0], bucket: BUCKETS.identities } as KeyedEntry
  const entry = { ...forged.entry, value: record, owner: liar.ledger.self }
  expect(member.ledger.merge([{ ...forged, entry }], undefined).rejected).toHaveLength(1)
  await live(clock, MINUTE, member, liar)
  expect(liar.watch.others()).toEqual([])
  expect(member.asked()).toBe(0)
})

/**
 * What merging promises, drawn at random. The rules of ownership depend on what is stored (a first claim stands), so
 * merge is not commutative for everything; it is where that is promised:
 * - open buckets: any order, any grouping, any repetition of any entries gives the same ledger;
 * - one owner's entries of an owned bucket: the newest one stands, whatever the order;
 * - any entries at all: idempotent; the version of what one owner holds never goes down; nothing forged gets in.
 */
import { heartbeatValue } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLedger, encodeBlock, type KeyedEntry } from '../src/index.ts'
import { verifyEntry } from '../src/rules/admission.ts'
import { createNodeSigner, createNodeVerifier } from '../src/node.ts'
import { ownedByKey, ownedBySigner } from '../src/rules/policy.ts'
import { forge } from './members.ts'

const START = Date.UTC(2026, 0, 1)
const signers = [1, 2, 3].map((byte) => createNodeSigner(new Uint8Array(32).fill(byte)))
const verify = createNodeVerifier()
const policies = { claimed: ownedBySigner, personal: ownedByKey }

function createTaker() {
  const signer = createNodeSigner(new Uint8Array(32).fill(50))
  return createLedger({ policies }, { signer, verify, clock: createManualClock(START) })
}

const openEntry = fc
  .record({
    by: fc.constantFrom(...signers),
    key: fc.constantFrom('a', 'b', 'c'),
    version: fc.integer({ min: 1, max: 6 }),
    value: fc.constantFrom('1', '2', '3'),
    unsigned: fc.boolean(),
  })
  .map(
    ({ by, key, version, value, unsigned }): KeyedEntry =>
      unsigned
        ? {
            bucket: 'open',
            key,
            entry: { value, owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null },
          }
        : forge(by, 'open', key, { version: BigInt(version), value }),
  )

const anyEntry = fc
  .record({
    by: fc.constantFrom(...signers),
    bucket: fc.constantFrom('open', 'claimed', 'personal'),
    key: fc.constantFrom('a', 'b', ...signers.map(({ peerId }) => peerId)),
    version: fc.integer({ min: 1, max: 6 }),
    value: fc.constantFrom('1', '2'),
    deleted: fc.boolean(),
    fault: fc.constantFrom('none', 'none', 'none', 'value', 'owner', 'sig', 'bucket'),
  })
  .map(({ by, bucket, key, version, value, deleted, fault }): KeyedEntry => {
    const good = forge(by, bucket, key, { version: BigInt(version), value: deleted ? '' : value, deleted })
    const { entry } = good
    switch (fault) {
      case 'value':
        return { ...good, entry: { ...entry, value: `${value}0` } }
      case 'owner':
        return { ...good, entry: { ...entry, owner: signers.find((other) => other !== by)?.peerId ?? '' } }
      case 'sig':
        return { ...good, entry: { ...entry, sig: new Uint8Array(64).fill(version) } }
      case 'bucket':
        return { ...good, bucket: bucket === 'open' ? 'claimed' : 'open' }
      case 'none':
        return good
    }
  })

const heartbeats = signers.map((signer) =>
  forge(signer, 'healthcheck', signer.peerId, { value: heartbeatValue(START) }),
)

const stateOf = (ledger: ReturnType<typeof createTaker>) => [...ledger.snapshot().entries()]

/** Splits a list at the drawn points. */
function split<T>(list: readonly T[], at: readonly number[]): T[][] {
  const points = [...at.map((point) => point % (list.length + 1)), list.length].toSorted((a, b) => a - b)
  return points.map((point, index) => list.slice(points[index - 1] ?? 0, point))
}

test('open buckets: order, grouping and repetition do not matter', () => {
  const drawn = fc.array(openEntry, { maxLength: 25 }).chain((entries) =>
    fc.record({
      entries: fc.constant(entries),
      shuffled: fc.shuffledSubarray([...entries, ...entries], { minLength: entries.length * 2 }),
      cuts: fc.array(fc.nat(50), { maxLength: 5 }),
    }),
  )
  fc.assert(
    fc.property(drawn, ({ entries, shuffled, cuts }) => {
      const [one, other] = [createTaker(), createTaker()]
      one.merge(entries, undefined)
      for (const group of split(shuffled, cuts)) other.merge(group, undefined)
      expect(stateOf(other)).toEqual(stateOf(one))
      expect(other.snapshot().digest()).toEqual(one.snapshot().digest())
    }),
    { numRuns: 150 },
  )
})

test('an owner alone: the newest entry stands, whatever the order', () => {
  const [signer] = signers
  if (signer === undefined) throw new Error('no signer')
  const versions = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(versions, (list) => {
      const ledger = createTaker()
      for (const version of list) {
        ledger.merge([forge(signer, 'claimed', 'k', { version: BigInt(version) })], undefined)
      }
      expect(ledger.snapshot().get('claimed', 'k')?.version).toBe(BigInt(Math.max(...list)))
    }),
    { numRuns: 60 },
  )
})

test('whatever comes: idempotent, nothing forged, no version of a live owner goes down', () => {
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 40 }), (entries) => {
      const ledger = createTaker()
      ledger.merge(heartbeats, undefined)
      for (const keyed of entries) {
        const before = ledger.snapshot()
        const held = before.get(keyed.bucket, keyed.key)
        const { accepted } = ledger.merge([keyed], undefined)
        const after = ledger.snapshot()
        const now = after.get(keyed.bucket, keyed.key)
        expect(accepted === 1).toBe(now !== held)
        expect(now === undefined || verifyEntry({ ...keyed, entry: now }, verify)).toBe(true)
        expect(now?.version ?? 0n).toBeGreaterThanOrEqual(held?.version ?? 0n)
        const isRobbery = keyed.bucket !== 'open' && held?.deleted === false && now?.owner !== held.owner
        expect(isRobbery).toBe(false)
        expect(before.get(keyed.bucket, keyed.key)).toBe(held)
        ledger.merge([keyed], undefined)
        expect(ledger.snapshot().head).toBe(after.head)
      }
      const whole = stateOf(ledger)
      expect(ledger.merge(whole, undefined)).toEqual({ accepted: 0, unchanged: whole.length, rejected: [] })
    }),
    { numRuns: 120 },
  )
})

test('a snapshot never changes, however much is written after it', async () => {
  const clock = createManualClock(START)
  const ledger = createLedger({}, { signer: signers[0] ?? createNodeSigner(new Uint8Array(32)), clock })
  const states: { read: () => unknown; was: unknown }[] = []
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(60), fc.boolean()), { maxLength: 30 }), async (writes) => {
      const snapshot = ledger.snapshot()
      const read = () => [
        [...snapshot.entries()],
        snapshot.digest(),
        snapshot.head,
        snapshot.buckets(),
        snapshot.size,
      ]
      states.push({ read, was: read() })
      for (const [n, deletes] of writes) {
        if (deletes) ledger.delete('notes', `k${n}`)
        else ledger.put('notes', `k${n}`, String(writes.length))
      }
      await clock.advance(20)
    }),
    { numRuns: 30 },
  )
  for (const { read, was } of states) expect(read()).toEqual(was)
})

test('a block of any bytes never throws, and what it held before the fault is kept', async () => {
  const sound = new TextDecoder().decode(encodeBlock(heartbeats))
  const damaged = fc.tuple(fc.nat(sound.length - 1), fc.nat(255), fc.boolean()).map(([at, byte, cutsOff]) => {
    const bytes = new TextEncoder().encode(sound)
    bytes[at] = byte
    return cutsOff ? bytes.subarray(0, at) : bytes
  })
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((json) => new TextEncoder().encode(json)),
    fc.json().map((json) => new TextEncoder().encode(`{"Storage":{"b":{"k":${json},"l":"x"}}}`)),
    damaged,
  )
  await fc.assert(
    fc.asyncProperty(anything, async (bytes) => {
      const ledger = createTaker()
      const result = await ledger.receiveBlock(bytes, undefined)
      expect(result.accepted).toBe(ledger.snapshot().size)
      for (const keyed of ledger.snapshot().entries()) {
        expect(keyed.entry.owner === '' || verifyEntry(keyed, verify)).toBe(true)
      }
    }),
    { numRuns: 600 },
  )
})

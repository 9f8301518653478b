import { createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { canonicalBytes } from '../src/entries/canonical.ts'
import { createSigner, type Signer } from '../src/entries/signer.ts'
import type { Entry, KeyedEntry } from '../src/entries/entry.ts'
import { createLedger } from '../src/create-ledger.ts'
import { MAX_WITHDRAWN_AT_ONCE } from '../src/limits.ts'
import type { Position } from '../src/snapshot.ts'

const random = createSeededRandom(5)
const [self, anna, bert] = Array.from({ length: 3 }, () => createSigner(random.bytes(32))) as [
  Signer,
  Signer,
  Signer,
]

function entryOf(signer: Signer, bucket: string, number: number): KeyedEntry {
  const entry: Entry = {
    value: String(number),
    owner: signer.peerId,
    version: 1n + BigInt(number),
    updatedAt: 1,
    deleted: false,
    sig: null,
  }
  const keyed = { bucket, key: `k${String(number).padStart(6, '0')}`, entry }
  return { ...keyed, entry: { ...entry, sig: signer.sign(canonicalBytes(keyed).slice()) } }
}

test('what a peer wrote who is out goes in small steps, and all else stays', async () => {
  const out = new Set<string>()
  // the store is what is asked here: signatures are checked elsewhere
  const verify = () => true
  const ledger = createLedger({}, { signer: self, verify, admits: (owner) => !out.has(owner) })
  const [of, kept] = [600, 'k000007']
  for (const signer of [anna, bert])
    ledger.merge(
      Array.from({ length: of }, (_, at) => entryOf(signer, `of ${signer.peerId}`, at)),
      undefined,
    )
  out.add(anna.peerId)
  const keeps = ({ key }: KeyedEntry) => key === kept
  const steps: number[] = []
  for (let from: Position | undefined, isOver = false; !isOver; ) {
    const { count, next } = ledger.withdraw(new Set([anna.peerId]), keeps, from)
    steps.push(count)
    from = next
    isOver = next === undefined
  }
  expect(Math.max(...steps)).toBeLessThanOrEqual(MAX_WITHDRAWN_AT_ONCE)
  expect(steps.length).toBeGreaterThan(of / MAX_WITHDRAWN_AT_ONCE)
  const held = [...ledger.snapshot().entries()]
  expect(held.filter(({ entry }) => entry.owner === anna.peerId).map(({ key }) => key)).toEqual([kept])
  expect(held.filter(({ entry }) => entry.owner === bert.peerId)).toHaveLength(of)
  await ledger.stop()
})

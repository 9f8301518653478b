import type { PeerId } from '@mesh/core'
import { entryHash, type KeyedEntry } from '@mesh/ledger'
import { expect, it } from 'vitest'
import { REFUSAL_RETRY_MS, SHORT_HASH_BYTES } from '../limits.ts'
import { RefusedThere } from './refused-there.ts'

const entry = { value: '"a"', owner: '', version: 1n, updatedAt: 0, deleted: false, sig: null }
const keyed = { bucket: 'notes', key: 'a', entry } as unknown as KeyedEntry
const hash = entryHash(keyed).subarray(0, SHORT_HASH_BYTES)

/** A peer as it says where its ledger stands. */
const at = (peer: string, state: number) => ({
  peer: peer as PeerId,
  hello: { size: 1, digest: Uint8Array.of(state), heartbeats: Uint8Array.of(0) },
})

function refusedBy(code: string, told: string[] = []) {
  const refused = new RefusedThere(480_000, (_, said) => told.push(said))
  refused.add(at('bert', 1), [{ hash, code }], [keyed], 0)
  const has = (by: ReturnType<typeof at>, nowMs = 0) => refused.has(by, () => hash, nowMs)
  return { refused, has }
}

it('holds back what a peer does not let in while its ledger, which says whom it does, is the same', () => {
  const { refused, has } = refusedBy('GATED')
  expect(has(at('bert', 1), REFUSAL_RETRY_MS - 1)).toBe(true)
  expect([has(at('bert', 2)), has(at('carl', 1))]).toEqual([false, false])
  expect(has(at('bert', 1), REFUSAL_RETRY_MS)).toBe(false)
  refused.add(at('bert', 1), [{ hash, code: 'GATED' }], [keyed], 0)
  refused.forget('GATED')
  expect(has(at('bert', 1))).toBe(false)
})

it('holds back what else a peer refused whatever its ledger says, and forgets one reason of one peer', () => {
  const { refused, has } = refusedBy('FUTURE')
  expect([has(at('bert', 1)), has(at('bert', 2)), has(at('carl', 1))]).toEqual([true, true, false])
  refused.forget('FUTURE', 'carl' as PeerId)
  expect(has(at('bert', 2))).toBe(true)
  refused.forget('FUTURE', 'bert' as PeerId)
  expect(has(at('bert', 2))).toBe(false)
})

it('takes word only of what was sent, and counts words of a remote within a bound', () => {
  const told: string[] = []
  const { refused } = refusedBy('NOT_OWNER', told)
  refused.add(at('bert', 1), [{ hash: new Uint8Array(SHORT_HASH_BYTES), code: 'GATED' }], [keyed], 0)
  refused.add(at('bert', 1), [{ hash, code: 'no such code' }], [keyed], 0)
  for (let word = 0; word < 100; word++)
    refused.add(
      at('bert', 1),
      [{ hash, code: `W${'ABCDEFGHIJ'[word % 10]}${'ABCDEFGHIJ'[Math.floor(word / 10)]}` }],
      [keyed],
      0,
    )
  expect(told).toHaveLength(102)
  expect(refused.counts).toMatchObject({ NOT_OWNER: 1, WAA: 1 })
  expect(Object.keys(refused.counts).length).toBeLessThanOrEqual(33)
})

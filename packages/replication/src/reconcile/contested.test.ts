import type { KeyedEntry, Ledger } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { CONTESTED_DELAY_MS, CONTESTED_MOST_CROWDS } from '../limits.ts'
import { createContested } from './contested.ts'

const SELF = 'self'
const CLAIM = {
  bucket: 'machines',
  key: '10.1.0.1',
  entry: { value: '', owner: SELF, version: 1n, updatedAt: 0, deleted: false, sig: null },
} as unknown as KeyedEntry

/** When a claim of this node that a peer refused is told to others, in ms. @param float what is drawn */
async function toldAfter(members: number, float: number, code = 'NOT_OWNER', owner = SELF) {
  const clock = createManualClock()
  const began = clock.monotonic()
  let toldMs: number | undefined
  const claim = { ...CLAIM, entry: { ...CLAIM.entry, owner } }
  const snapshot = () => ({ get: () => claim.entry, isOwnerLive: () => true })
  const contested = createContested({
    ledger: { self: SELF, snapshot } as unknown as Ledger,
    publisher: { publish: () => (toldMs = clock.monotonic() - began) },
    topic: { peers: () => Array.from({ length: members }) },
    clock,
    random: { float: () => float } as never,
  })
  contested.refusedThere(claim, code)
  await clock.advance(2 * CONTESTED_MOST_CROWDS * CONTESTED_DELAY_MS)
  contested.stop()
  return toldMs
}

test('where few are on the topic a refused claim is told within seconds, and where many are by those who draw little', async () => {
  expect(await toldAfter(3, 1)).toBe(CONTESTED_DELAY_MS)
  expect(await toldAfter(48, 0)).toBe(0.2 * CONTESTED_DELAY_MS)
  expect(await toldAfter(48, 1)).toBe(6 * CONTESTED_DELAY_MS)
  expect(await toldAfter(1_000, 1)).toBe(CONTESTED_MOST_CROWDS * CONTESTED_DELAY_MS)
})

test('what a peer knows to have ended is told to its owner, and a claim of another that lives is not', async () => {
  expect(await toldAfter(3, 1, 'REPLAYED', 'other')).toBe(CONTESTED_DELAY_MS)
  expect(await toldAfter(3, 1, 'NOT_OWNER', 'other')).toBeUndefined()
})

/** Real ledgers of 100,000 entries that differ in 10, over the encoded protocol. */
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import type { KeyedEntry } from '@mesh/ledger'
import { expect, it } from 'vitest'
import { MAX_LEDGER_ENTRIES } from '../src/limits.ts'
import { createSimNetwork } from './sim-network.ts'
import { createSimSigner, startSimNode } from './sim-node.ts'

const ENTRIES = 100_000

it(`ledgers of ${ENTRIES} entries that differ in 10 exchange 10, in 4 round trips and some 30 kB`, {
  timeout: 120_000,
}, async () => {
  const clock = createManualClock()
  const random = createSeededRandom(3)
  const network = createSimNetwork({}, { clock, random })
  let met = false
  const limits = { limits: { maxUnsignedEntries: 200_000, maxUnsignedBytes: 1e9 } }
  const node = () =>
    startSimNode(
      { signer: createSimSigner(random), ledger: limits, neighbours: () => met },
      { clock, random, network },
    )
  const [anna, bert] = [await node(), await node()]
  const open = (at: number, value: string): KeyedEntry => ({
    bucket: 'notes',
    key: `key-${String(at).padStart(6, '0')}`,
    entry: { value, owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null },
  })
  const common = Array.from({ length: ENTRIES }, (_, at) => open(2 * at, `"value ${at}"`))
  for (const { ledger } of [anna, bert]) expect(ledger.merge(common, undefined).accepted).toBe(ENTRIES)
  for (let at = 0; at < 5; at++) {
    anna.ledger.merge([open(2 * (at * 19_999) + 1, '"only anna"')], undefined)
    bert.ledger.merge([open(2 * (at * 17_777 + 5) + 1, '"only bert"')], undefined)
  }
  met = true
  network.partition(undefined)
  await clock.advance(2000)
  expect(anna.ledger.snapshot().digest().digest).toBe(bert.ledger.snapshot().digest().digest)
  const [sync] = anna.replicator.status().peers
  process.stdout.write(`100,000 entries, 10 differ: ${JSON.stringify({ ...sync, peer: undefined })}\n`)
  expect([sync?.entriesIn, sync?.entriesOut]).toEqual([5, 5])
  expect((sync?.bytesIn ?? 0) + (sync?.bytesOut ?? 0)).toBeLessThan(60_000)
  await Promise.all([anna.kill(), bert.kill()])
})

it('an empty ledger takes all of one that was allowed more entries than usual', {
  timeout: 120_000,
}, async () => {
  const clock = createManualClock()
  const random = createSeededRandom(4)
  const network = createSimNetwork({}, { clock, random })
  const maxEntries = 2 * MAX_LEDGER_ENTRIES
  const limits = { maxEntries, maxUnsignedEntries: maxEntries, maxUnsignedBytes: 1e9, maxBytes: 1e9 }
  const start = (maxLedgerEntries?: number) =>
    startSimNode(
      {
        signer: createSimSigner(random),
        ledger: { limits },
        replicator: maxLedgerEntries === undefined ? {} : { maxLedgerEntries },
      },
      { clock, random, network },
    )
  const full = await start(maxEntries)
  const held = Array.from({ length: MAX_LEDGER_ENTRIES + 5_000 }, (_, at) => ({
    bucket: 'notes',
    key: `key-${String(at).padStart(6, '0')}`,
    entry: { value: '1', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null },
  }))
  full.ledger.merge(held, undefined)
  const empty = await start(maxEntries)
  await clock.advance(10_000)
  expect(empty.ledger.snapshot().count('notes')).toBe(held.length)
  expect(empty.replicator.status().sessions.failures).toEqual({})
  await Promise.all([full.kill(), empty.kill()])
})

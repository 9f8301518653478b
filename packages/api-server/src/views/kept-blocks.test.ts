import type { KeptBlockView } from '@mesh/api-contract'
import {
  type BlockHead,
  type Change,
  createLedger,
  createSigner,
  encodeBlock,
  type Entry,
  type Ledger,
  type LedgerEvent,
  type LedgerInit,
  type Snapshot,
} from '@mesh/ledger'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_KEPT_BLOCK_BYTES, MAX_KEPT_BLOCKS_BYTES } from '../limits.ts'
import { keepBlocks, type KeptBlocks } from './kept-blocks.ts'

/** A ledger whose blocks the test makes. */
function fakeLedger() {
  let head: BlockHead = { index: 7, timestamp: 't', hash: 'h7', prevHash: 'h6' }
  let tell: (event: LedgerEvent) => void = () => {}
  return {
    snapshot: () => ({ head }) as Snapshot,
    subscribe(listener: typeof tell) {
      tell = listener
      return () => (tell = () => {})
    },
    commit(changes: readonly Change[]) {
      const index = head.index + 1
      head = { index, timestamp: 't', hash: `h${index}`, prevHash: head.hash }
      tell({ type: 'committed', head, changes })
    },
  }
}

function change(bucket: string, key: string, value = '1'): Change {
  const entry: Entry = { value, owner: '', version: 1n, updatedAt: 0, deleted: false, sig: null }
  return { bucket, key, entry, previous: undefined, origin: 'remote' }
}

const changes = (count: number, value?: string) =>
  Array.from({ length: count }, (_, at) => change(`b${at % 10}`, `k${at}`, value))

const read = (blocks: KeptBlocks, index: number) =>
  JSON.parse(blocks.text(index) ?? 'null') as KeptBlockView | null

test('before the first block there is the head, and nothing below it', () => {
  const blocks = keepBlocks(fakeLedger())
  expect(blocks.list({})).toEqual({ Head: 7, First: 7, Blocks: [] })
  expect(blocks.text(7)).toBeUndefined()
})

test('256 blocks are kept, and 100 at most are listed at a time', () => {
  const ledger = fakeLedger()
  const blocks = keepBlocks(ledger)
  for (let at = 0; at < 300; at++) ledger.commit([change('b', String(at))])
  const { Head, First, Blocks } = blocks.list({ last: 5_000 })
  expect([Head, First, Blocks.length, Blocks[0]?.Index, Blocks[99]?.Index]).toEqual([307, 52, 100, 307, 208])
  expect(blocks.list({ before: 54, last: 9 }).Blocks.map(({ Index }) => Index)).toEqual([53, 52])
  expect(blocks.list({ last: 0 }).Blocks).toEqual([])
  expect([blocks.text(51), read(blocks, 52)?.Hash]).toEqual([undefined, 'h52'])
  blocks.stop()
  ledger.commit([])
  expect(blocks.list({ last: 1 }).Blocks[0]?.Index).toBe(307)
})

test('a block keeps 256 changes and 8 names of buckets, and counts the others', () => {
  const ledger = fakeLedger()
  const blocks = keepBlocks(ledger)
  ledger.commit(changes(300))
  expect(blocks.list({}).Blocks[0]).toMatchObject({
    Changes: 300,
    Buckets: ['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7'],
  })
  expect(read(blocks, 8)).toMatchObject({ Changes: 300, Changed: { length: 256 }, More: 44 })
})

test('large values leave place for fewer changes, and for fewer blocks', () => {
  const ledger = fakeLedger()
  const blocks = keepBlocks(ledger)
  const value = 'x'.repeat(60_000)
  for (let at = 0; at < 20; at++) ledger.commit(changes(100, value))
  const block = read(blocks, 27)
  expect(block?.Changed.length).toBe(Math.floor(MAX_KEPT_BLOCK_BYTES / 60_400))
  expect(block?.More).toBe(100 - (block?.Changed.length ?? 0))
  expect(blocks.list({}).Blocks.length).toBe(Math.floor(MAX_KEPT_BLOCKS_BYTES / (17 * 60_400)))
  expect(blocks.list({}).Blocks[0]?.Index).toBe(27)
})

function openLedger(byte: number, clock: ManualClock, init: LedgerInit) {
  const ledger = createLedger(init, { signer: createSigner(new Uint8Array(32).fill(byte)), clock })
  return { ledger, blocks: keepBlocks(ledger) }
}

async function put(ledger: Ledger, clock: ManualClock, key: string, value: string) {
  const { settled } = ledger.put('b', key, value)
  await clock.advance(20)
  await settled
}

test('with ownership off, the block that takes the place of another tells what both changed', async () => {
  const clock = createManualClock()
  const members = [openLedger(1, clock, { mode: 'off' }), openLedger(2, clock, { mode: 'off' })]
  for (const [at, { ledger }] of members.entries()) {
    await put(ledger, clock, 'k', `"${at}"`)
    await put(ledger, clock, `only${at}`, '1')
  }
  const [loser, winner] = members.toSorted((a, b) =>
    a.ledger.snapshot().head.hash < b.ledger.snapshot().head.hash ? -1 : 1,
  )
  if (loser === undefined || winner === undefined) throw new Error('two members')
  const { head } = winner.ledger.snapshot()
  const text = encodeBlock(winner.ledger.snapshot().entries(), head)
  await loser.ledger.receiveBlock(text, winner.ledger.self)
  expect(loser.blocks.list({}).Blocks.map(({ Index, Hash }) => [Index, Hash === head.hash])).toEqual([
    [2, true],
    [1, false],
  ])
  const told = read(loser.blocks, 2)?.Changed.map(({ Key, Before, After }) => [
    Key,
    Before?.Value ?? null,
    After.Deleted,
    After.Sig,
  ])
  const mine = members.indexOf(loser)
  expect(new Set(told)).toEqual(
    new Set([
      ['k', `"${mine}"`, false, null],
      [`only${1 - mine}`, null, false, null],
      [`only${mine}`, null, true, null],
    ]),
  )
})

test('an entry that the ledger removed by itself is a tombstone that nobody signed', async () => {
  const clock = createManualClock()
  const owner = createSigner(new Uint8Array(32).fill(9)).peerId
  let isAdmitted = true
  const signer = createSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock, verify: () => true, admits: () => isAdmitted })
  const blocks = keepBlocks(ledger)
  const sig = new Uint8Array(64).fill(3)
  const entry: Entry = { value: '1', owner, version: 1n, updatedAt: 0, deleted: false, sig }
  expect(ledger.merge([{ bucket: 'notes', key: 'k', entry }], undefined).accepted).toBe(1)
  isAdmitted = false
  expect(ledger.withdraw(new Set([owner]), () => false).count).toBe(1)
  expect(read(blocks, 2)?.Changed).toMatchObject([
    {
      Before: { Value: '1', Sig: Buffer.from(sig).toString('base64') },
      After: { Value: '', Owner: owner, Deleted: true, Sig: null },
    },
  ])
})

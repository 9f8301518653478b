import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { peerIdFromPublicKey } from '@mesh/core'
import { hexToBytes } from '@noble/hashes/utils.js'
import { createLedger, createSigner, decodeEntries, encodeBlock, hashByPrint } from '../src/index.ts'
import { createNodeVerifier } from '../src/node/node-crypto.ts'
import { verifyEntry } from '../src/rules/admission.ts'
import type { KeyedEntry } from '../src/entries/entry.ts'
import recorded from './vectors/recorded.json' with { type: 'json' }

interface Message {
  label: string
  received_unix_ms: number
  from_hex: string
  plaintext: string
}

const bytes = (json: string) => new TextEncoder().encode(json)
const text = (json: Uint8Array) => new TextDecoder().decode(json)
const authorOf = ({ from_hex }: Message) => peerIdFromPublicKey(hexToBytes(from_hex).slice(-32))
const verify = createNodeVerifier()
const verifies = (keyed: KeyedEntry) => verifyEntry(keyed, verify)

/** What `JSON.parse` reads of a block, versions aside. */
const expectedOf = (json: string) => {
  const { Storage } = JSON.parse(json) as { Storage: Record<string, Record<string, { Value: string }>> }
  return Object.entries(Storage).flatMap(([bucket, rows]) =>
    Object.entries(rows).map(([key, row]) => [bucket, key, typeof row === 'string' ? row : row.Value]),
  )
}
const signed: Message[] = [
  ...recorded.ledger.messages,
  ...recorded.main_node.messages,
  ...recorded.guard.messages,
]

test.each(signed)('reads, verifies, hashes and prints again: $label', ({ plaintext }) => {
  const { entries, head, refused } = decodeEntries(bytes(plaintext))
  expect(refused).toBe(0)
  expect(entries.map(({ bucket, key, entry }) => [bucket, key, entry.value])).toEqual(expectedOf(plaintext))
  expect(entries.length).toBeGreaterThan(0)
  expect(entries.filter((keyed) => !verifies(keyed))).toEqual([])
  expect(text(encodeBlock(entries, head))).toBe(plaintext)
  expect(hashByPrint(head, entries)).toBe(head.hash)
})

test('a ledger that hears the recorded node holds at the end what that node held', async () => {
  const [first] = recorded.ledger.messages
  const clock = createManualClock(first?.received_unix_ms)
  const ledger = createLedger({}, { signer: createSigner(new Uint8Array(32).fill(7)), verify, clock })
  for (const message of recorded.ledger.messages) {
    await clock.advance(message.received_unix_ms - clock.now())
    const { entries } = decodeEntries(bytes(message.plaintext))
    const result = await ledger.receiveBlock(bytes(message.plaintext), authorOf(message))
    expect(result.rejected).toEqual([])
    expect(result.accepted + result.unchanged).toBe(entries.length)
    expect([...ledger.snapshot().entries()]).toEqual(
      expect.arrayContaining(entries.filter(({ bucket }) => bucket !== 'healthcheck')),
    )
  }
  const last = decodeEntries(bytes(recorded.ledger.messages.at(-1)?.plaintext ?? ''))
  expect(ledger.snapshot().size).toBe(last.entries.length)
  expect(ledger.snapshot().buckets()).not.toContain('shapes')
})

test('the main command is read: machines, egress and heartbeat, its owner alive', async () => {
  const [message] = recorded.main_node.messages
  if (message === undefined) throw new Error('no recording')
  const clock = createManualClock(message.received_unix_ms)
  const ledger = createLedger({}, { signer: createSigner(new Uint8Array(32).fill(7)), verify, clock })
  expect(await ledger.receiveBlock(bytes(message.plaintext), authorOf(message))).toMatchObject({
    accepted: 3,
  })
  expect(ledger.snapshot().buckets()).toEqual(['egress', 'healthcheck', 'machines'])
  expect(ledger.snapshot().isOwnerLive(recorded.main_node.go_peer_id, clock.now())).toBe(true)
  expect(() => ledger.put('machines', '10.1.0.11', JSON.stringify({ PeerID: ledger.self }))).toThrow(
    expect.objectContaining({
      code: 'ledger.not_owner',
      details: expect.objectContaining({
        owner: recorded.main_node.go_peer_id,
        leaseEndsAt: Date.parse('2026-11-21T02:39:15Z') + 480_000,
      }),
    }),
  )
})

test('without ownership the recorded block is taken whole, head and hash', async () => {
  const clock = createManualClock(recorded.ownership_off.messages[0]?.received_unix_ms)
  const signer = createSigner(new Uint8Array(32).fill(7))
  const ledger = createLedger({ mode: 'off' }, { signer, clock })
  for (const message of recorded.ownership_off.messages) {
    await ledger.receiveBlock(bytes(message.plaintext), authorOf(message))
  }
  const snapshot = ledger.snapshot()
  expect(text(encodeBlock(snapshot.entries(), snapshot.head))).toBe(
    recorded.ownership_off.api_blockchain.trim(),
  )
  await ledger.put('b', 'k2', '"w"').settled
  const { head } = ledger.snapshot()
  expect(head).toMatchObject({ index: 2, prevHash: snapshot.head.hash })
  expect(hashByPrint(head, ledger.snapshot().entries())).toBe(head.hash)
})

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { expect, test } from 'vitest'
import { canonicalBytes } from '../src/entries/canonical.ts'
import { decodeEntries, encodeBlock, encodeEntry, hashByPrint, leaderOf } from '../src/index.ts'
import { genesisHead } from '../src/blocks/block-hash.ts'
import { judgeByWire } from '../src/rules/judge.ts'
import { createSigner, verifySignature } from '../src/entries/signer.ts'
import { createNodeSigner, createNodeVerifier } from '../src/node/node-crypto.ts'
import { defaultPolicies } from '../src/rules/policy.ts'
import { fnv1a32, parsePeerId } from '@mesh/core'
import type { Entry } from '../src/entries/entry.ts'
import { versionAfter } from '../src/entries/version.ts'
import vectors from './vectors/ledger.json' with { type: 'json' }

const text = new TextDecoder()
const bytes = (json: string) => new TextEncoder().encode(json)

const keyedOf = (vector: (typeof vectors.signed_entries)[number]) => ({
  bucket: vector.bucket,
  key: vector.key,
  entry: {
    value: vector.value,
    owner: vector.owner,
    version: BigInt(vector.version),
    updatedAt: vector.updatedAt,
    deleted: vector.deleted,
    sig: hexToBytes(vector.sig_hex),
  },
})

test.each(Object.entries(vectors.identities))(
  'identity %s has the peer id of its seed',
  (_name, identity) => {
    const seed = hexToBytes(identity.seed_hex)
    expect(createSigner(seed).peerId).toBe(identity.peer_id)
    expect(createNodeSigner(seed).peerId).toBe(identity.peer_id)
  },
)

test.each(vectors.signed_entries)('signed entry $bucket/$key has its bytes, signature and JSON', (vector) => {
  const keyed = keyedOf(vector)
  expect(bytesToHex(canonicalBytes(keyed))).toBe(vector.canonical_hex)
  const identity = Object.values(vectors.identities).find(({ peer_id }) => peer_id === vector.owner)
  const seed = hexToBytes(identity?.seed_hex ?? '')
  const canonical = canonicalBytes(keyed).slice()
  expect(bytesToHex(createSigner(seed).sign(canonical))).toBe(vector.sig_hex)
  expect(bytesToHex(createNodeSigner(seed).sign(canonical))).toBe(vector.sig_hex)
  for (const verify of [verifySignature, createNodeVerifier()]) {
    expect(verify(parsePeerId(vector.owner), canonical, keyed.entry.sig)).toBe(true)
    const other = Uint8Array.from(canonical, (byte, at) => (at === 40 ? byte ^ 1 : byte))
    expect(verify(parsePeerId(vector.owner), other, keyed.entry.sig)).toBe(false)
  }
  expect(encodeEntry(keyed.entry)).toBe(vector.entry_json)
  const block = `{"storage":{${JSON.stringify(vector.bucket)}:{${JSON.stringify(vector.key)}:${vector.entry_json}}}}`
  expect(decodeEntries(bytes(block)).entries).toEqual([keyed])
})

test('a bare entry of legacy members is its Value', () => {
  const { entry_json, value } = vectors.legacy_bare_entry
  const { entries } = decodeEntries(bytes(`{"Storage":{"b":{"k":${entry_json}}}}`))
  const bare: Entry = { value, owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }
  expect(entries).toEqual([{ bucket: 'b', key: 'k', entry: bare }])
  expect(encodeEntry(bare)).toBe(entry_json)
})

test('versions keep all their digits', () => {
  const { version_exact } = vectors.json_precision_trap
  const { entries } = decodeEntries(bytes(`{"Storage":{"b":{"k":{"Version":${version_exact}}}}}`))
  expect(entries[0]?.entry.version).toBe(BigInt(version_exact))
})

test('the block vector reads, prints and hashes byte for byte', () => {
  const { block } = vectors
  const { entries, head, refused } = decodeEntries(bytes(block.json))
  expect(refused).toBe(0)
  expect(text.decode(encodeBlock(entries, head))).toBe(block.json)
  expect(genesisHead('').hash).toBe(block.genesis_hash)
  expect(head.prevHash).toBe(block.genesis_hash)
  expect(hashByPrint(head, entries)).toBe(block.hash)
})

test('a partial block is the smallest that legacy members take', () => {
  const { entries } = decodeEntries(bytes(vectors.block.json))
  const heartbeat = entries.filter(({ bucket }) => bucket === 'healthcheck')
  expect(text.decode(encodeBlock(heartbeat))).toBe(vectors.block.minimal_partial_block_json)
})

test.each(vectors.leader.cases)('of $actives the leader is $leader', ({ actives, leader }) => {
  expect(leaderOf(actives)).toBe(leader)
})

test.each(Object.entries(vectors.leader.fnv1a32))('FNV-1a of "%s"', (id, hash) => {
  expect(fnv1a32(id)).toBe(hash)
})

test.each(vectors.version_after)(
  'after version $prev at $now_ns comes $result',
  ({ prev, now_ns, result }) => {
    expect(versionAfter(BigInt(prev), BigInt(now_ns))).toBe(BigInt(result))
  },
)

type VectorEntry = (typeof vectors.merge_enforce.cases)[number]['incoming']

const entryOf = (vector: VectorEntry): Entry => ({
  value: vector.Value,
  owner: vector.Owner,
  version: BigInt(vector.Version),
  updatedAt: vector.UpdatedAt,
  deleted: vector.Deleted,
  sig: vector.Sig === '' ? null : bytes(vector.Sig),
})

test.each(vectors.merge_enforce.cases)('merge: $name -> $result', (vector) => {
  const { now, ttl } = vectors.merge_enforce
  const beats = new Map(Object.entries(vector.beats as Record<string, number>))
  const verdict = judgeByWire(
    {
      incoming: { bucket: vector.bucket, key: vector.key, entry: entryOf(vector.incoming) },
      existing: vector.existing === null ? undefined : entryOf(vector.existing as VectorEntry),
      policy: defaultPolicies[vector.bucket],
    },
    {
      nowMs: now * 1000,
      livenessMs: ttl * 1000,
      isLive: (owner) => (beats.get(owner) ?? Number.NEGATIVE_INFINITY) + ttl > now,
      verify: () => vector.incoming.sigOK,
    },
  )
  const codes: Record<string, string> = { NOT_NEWER: 'not-newer', SAME: 'same' }
  expect(verdict).toBe(codes[vector.result] ?? vector.result)
})

test('there are 33 merge cases', () => {
  expect(vectors.merge_enforce.cases).toHaveLength(33)
})

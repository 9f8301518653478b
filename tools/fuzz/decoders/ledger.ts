/** The ledger's blocks and entries, from JSON to what they mean, and the comparison of two ledgers. */
import { heartbeatValue, parseExactJson, parseHeartbeat, systemClock } from '@mesh/core'
import { tryParsePattern } from '@mesh/core/pattern'
import { canonicalBytes, createLedger, encodeBlock, type Entry, type KeyedEntry } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { gzipSync } from 'node:zlib'
import { decodeEntries } from '../../../packages/ledger/src/blocks/decode-block.ts'
import { blockFormOf } from '../../../packages/replication/src/gossip/block-form.ts'
import {
  decodeSyncMessage,
  encodeSyncMessage,
} from '../../../packages/replication/src/session/sync-message-codec.ts'
import {
  answerOf,
  createTwinLedger,
  createTwinSession,
  twinEntry,
} from '../../../packages/replication/test/twin-ledger.ts'
import { readPatternShape } from '@mesh/core/pattern'
import { zlibCompression } from '../../../apps/node/src/compose/zlib-compression.ts'
import { type Decoder, textOf, textSeeds } from '../decoder.ts'

const signer = createNodeSigner(new Uint8Array(32).fill(9))
const PEER = signer.peerId
const NOW_MS = 1_790_000_000_000
/** The most that a compressed block may inflate to in this suite, in bytes. */
const MAX_INFLATED_BYTES = 1024 * 1024

function signed(bucket: string, key: string, value: unknown, version = 1n): KeyedEntry {
  const entry: Entry = {
    value: JSON.stringify(value),
    owner: PEER,
    version,
    updatedAt: 1_790_000_000,
    deleted: false,
    sig: null,
  }
  const keyed = { bucket, key, entry }
  return { ...keyed, entry: { ...entry, sig: signer.sign(canonicalBytes(keyed)) } }
}

/** One entry of each bucket that something reads. */
const ENTRIES: readonly KeyedEntry[] = [
  signed('machines', '10.1.0.11', {
    PeerID: PEER,
    Hostname: 'nas',
    OS: 'linux',
    Arch: 'amd64',
    Address: '10.1.0.11',
    Version: '0.1.0',
  }),
  signed('services', 'web', { PeerID: PEER, Name: 'web' }),
  signed('users', PEER, { PeerID: PEER, Timestamp: '2026-01-01T00:00:00Z' }),
  signed('dns', '^git\\.mesh\\.$', { 1: '10.1.0.11' }),
  signed('healthcheck', PEER, '2026-01-01T00:00:00Z'),
  signed('notes', 'greeting', 'hello'),
  signed('trustzone', PEER, ''),
]

const twin = createTwinLedger(
  Array.from({ length: 200 }, (_, at) => ({
    bucket: 'notes',
    key: `key-${at}`,
    entry: twinEntry(BigInt(at + 1)),
  })),
)
const other = createTwinLedger([{ bucket: 'notes', key: 'key-1', entry: twinEntry(9n) }])

/** Messages of a real session, from its first to its last. */
function sessionSeeds(): readonly Uint8Array[] {
  const [asking, answering] = [createTwinSession(other, 'initiator'), createTwinSession(twin, 'responder')]
  const seeds: Uint8Array[] = []
  let message = asking.open()
  for (let turn = 0; turn < 6; turn++) {
    seeds.push(encodeSyncMessage(message))
    const receiver = turn % 2 === 0 ? answering : asking
    receiver.receive(message)
    const next = answerOf(receiver, [])
    if (next === undefined) break
    message = next
  }
  return seeds
}

export function ledgerDecoders(): readonly Decoder[] {
  const block = encodeBlock(ENTRIES)
  return [
    { name: 'exact-json', form: 'json', seeds: [block], mayRefuse: true, decode: readJson },
    { name: 'block', form: 'json', seeds: [block], decode: decodeEntries },
    { name: 'block-form', form: 'json', seeds: [block], decode: blockFormOf },
    {
      name: 'inflated-block',
      form: 'bytes',
      seeds: [gzipSync(block), gzipSync(new Uint8Array(100_000))],
      async decode(bytes) {
        zlibCompression.inflatedBytes(bytes)
        await zlibCompression.gunzip(bytes, MAX_INFLATED_BYTES)
        await zlibCompression.gunzip(bytes, 2 * MAX_INFLATED_BYTES)
      },
    },
    mergedBlock(block, () => true, 'entry'),
    mergedBlock(block, undefined, 'signed-entry'),
    {
      name: 'replication-session',
      form: 'protobuf',
      seeds: sessionSeeds(),
      decode(bytes) {
        const message = decodeSyncMessage(bytes)
        if (message === undefined) return
        for (const role of ['responder', 'initiator'] as const) {
          const session = createTwinSession(twin, role)
          if (role === 'initiator') session.open()
          session.receive(message)
          answerOf(session, [])
        }
      },
    },
    {
      name: 'heartbeat',
      form: 'text',
      seeds: textSeeds(heartbeatValue(1_790_000_000_000), '"2026-01-01T00:00:00+02:00"'),
      decode: (bytes) => parseHeartbeat(textOf(bytes)),
    },
    {
      name: 'pattern',
      form: 'text',
      seeds: textSeeds('^git\\.mesh\\.$', '(a|b)*c{2,3}[a-z]', '(?i)x+?'),
      decode(bytes) {
        readPatternShape(textOf(bytes))
        tryParsePattern(textOf(bytes))?.test('git.mesh.')
      },
    },
  ]
}

/** Takes the block into a ledger as gossip does, and reads what stands then. */
function mergedBlock(block: Uint8Array, verify: (() => boolean) | undefined, name: string): Decoder {
  const init = { signer: createNodeSigner(new Uint8Array(32).fill(8)), clock: systemClock }
  let ledger = createLedger({}, { ...init, ...(verify !== undefined && { verify }) })
  let blocks = 0
  return {
    name,
    form: 'json',
    seeds: [block],
    async decode(bytes) {
      // a fresh one now and then, so that what was taken before decides less
      if (++blocks % 50 === 0) {
        await ledger.stop()
        ledger = createLedger({}, { ...init, ...(verify !== undefined && { verify }) })
      }
      await ledger.receiveBlock(bytes, PEER)
      for (const { entry } of ledger.snapshot().entries()) ledger.snapshot().isOwnerLive(entry.owner, NOW_MS)
    },
    stop: () => ledger.stop(),
  }
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return parseExactJson(textOf(bytes))
  } catch (error) {
    // its declared refusal is that of JSON.parse
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

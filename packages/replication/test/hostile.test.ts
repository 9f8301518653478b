import { delay, type PeerId } from '@mesh/core'
import { encodeBlock, type Entry, entryHash, type KeyedEntry, leaderOf } from '@mesh/ledger'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { gzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { createCompression } from '../src/gossip/compression.ts'
import { REPLICATION_PROTOCOL } from '../src/limits.ts'
import type { ReplicationChannel } from '../src/ports.ts'
import type { SyncMessage } from '../src/session/sync-message.ts'
import { decodeSyncMessage, encodeSyncMessage } from '../src/session/sync-message-codec.ts'
import { createSimNetwork } from './sim-network.ts'
import { contentOf, createSimSigner, startSimNode } from './sim-node.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const silent: SyncMessage = { ranges: [], lists: [], wants: [], entries: [], refused: [], more: false }
const hello = { size: 1000, digest: new Uint8Array(16).fill(9), heartbeats: new Uint8Array(16) }

function createStage() {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(11)
  const network = createSimNetwork({}, { clock, random })
  return { clock, random, network }
}

function forged(count: number, owner: PeerId): KeyedEntry[] {
  const entry: Entry = {
    value: '"forged"',
    owner,
    version: 1n,
    updatedAt: 1_700_000_000,
    deleted: false,
    sig: new Uint8Array(64),
  }
  return Array.from({ length: count }, (_, at) => ({ bucket: 'dns', key: `forged ${at}`, entry }))
}

type Reply = (message: SyncMessage, messages: number) => SyncMessage | Uint8Array | undefined

/** A member that speaks the protocol, in its own way. */
function answerWith(reply: Reply) {
  return async (channel: ReplicationChannel) => {
    let messages = 0
    for await (const bytes of channel.messages()) {
      const message = decodeSyncMessage(bytes)
      const next = message === undefined ? undefined : reply(message, ++messages)
      if (next !== undefined) await channel.send(next instanceof Uint8Array ? next : encodeSyncMessage(next))
    }
  }
}

async function meet(reply: Reply) {
  const at = createStage()
  const liar = createSimSigner(at.random)
  const link = at.network.join(liar.peerId)
  await link.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 }, answerWith(reply))
  const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
  for (let note = 0; note < 100; note++) node.ledger.put('notes', `note ${note}`, String(note))
  return { at, liar: liar.peerId, node, link }
}

describe('a peer that lies in reconciliation', () => {
  const somewhere = { from: undefined, to: undefined, count: 900, fingerprint: new Uint8Array(32) }

  it.each<[string, string, Reply]>([
    ['sends bytes that are no message', 'malformed', () => Uint8Array.of(0xff, 0xff)],
    ['asks the same without end', 'endless', () => ({ ...silent, hello, ranges: [somewhere] })],
    ['says more and brings nothing', 'no_progress', () => ({ ...silent, hello, more: true })],
    ['says nothing', 'timeout', () => undefined],
    [
      'sends forged entries',
      'bad_entries',
      (_, messages) => ({
        ...silent,
        hello,
        entries: forged(100 * messages, createSimSigner(createSeededRandom(1)).peerId),
      }),
    ],
  ])('%s, is given up, counted and left alone', async (_, failure, reply) => {
    const { at, liar, node } = await meet(reply)
    await at.clock.advance(2 * MINUTE)
    const { sessions, peers } = node.replicator.status()
    expect(sessions.failures).toHaveProperty(failure)
    expect(sessions.running).toBeLessThanOrEqual(1)
    expect(peers.find(({ peer }) => peer === liar)?.lastFailure).toBe(failure)
    expect(contentOf(node.ledger)).toHaveLength(100)
    const before = at.network.counts.channels
    await at.clock.advance(5 * MINUTE)
    // Silence may be the network's fault, so whoever is only silent is asked again now and then.
    const asked = at.network.counts.channels - before
    expect(asked).toBeLessThanOrEqual(failure === 'timeout' ? 6 : 0)
    await node.kill()
  })

  it('does not hold up the node’s initialSync for ever', async () => {
    const { at, node } = await meet(() => undefined)
    await at.clock.advance(2 * MINUTE + SECOND)
    expect(node.replicator.status().ready).toBe(true)
    await node.kill()
  })

  it.each(['constructor', '__proto__', 'toString', 'ROLLBACK'])(
    'refuses what it is sent as %s, which is counted as a number',
    async (code) => {
      const empty = { from: undefined, to: undefined, count: 0, fingerprint: new Uint8Array(32) }
      const { at, node } = await meet(({ entries }) => ({
        ...silent,
        ...(entries.length === 0 && { hello, ranges: [empty] }),
        refused: entries.map((keyed) => ({ hash: entryHash(keyed).subarray(0, 16), code })),
      }))
      await at.clock.advance(MINUTE)
      const { refusedThere } = node.replicator.status().sessions
      const name = code === 'ROLLBACK' ? code : 'OTHER'
      expect(Object.entries(refusedThere)).toEqual([[name, expect.any(Number)]])
      await node.kill()
    },
  )

  it('keeps nobody else from being asked, or from asking, by answering a little now and then', async () => {
    const at = createStage()
    const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
    const slowly = async (channel: ReplicationChannel) => {
      for await (const _ of channel.messages()) {
        await delay(at.clock, 2_500)
        await channel.send(encodeSyncMessage({ ...silent, hello, ranges: [somewhere] }))
      }
    }
    for (let liar = 0; liar < 80; liar++) {
      const link = at.network.join(createSimSigner(at.random).peerId)
      await link.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 }, slowly)
      const channel = await link.channels.open(node.id, REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 })
      await channel.send(encodeSyncMessage({ ...silent, hello }))
      void slowly(channel).catch(() => {})
    }
    await at.clock.advance(MINUTE)
    const honest = at.network.join(createSimSigner(at.random).peerId)
    let asked = 0
    await honest.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 }, async () => void asked++)
    await at.clock.advance(10 * SECOND)
    expect(asked).toBeGreaterThan(0)
    const channel = await honest.channels.open(node.id, REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 })
    await channel.send(encodeSyncMessage({ ...silent, hello }))
    const answer = channel.messages()[Symbol.asyncIterator]().next()
    await at.clock.advance(SECOND)
    expect(decodeSyncMessage((await answer).value ?? new Uint8Array(1))?.hello).toBeDefined()
    await node.kill()
  })

  it('opens sessions without end, and is not let in', async () => {
    const at = createStage()
    const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
    const link = at.network.join(createSimSigner(at.random).peerId)
    for (let call = 0; call < 100; call++) {
      const channel = await link.channels.open(node.id, REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 })
      await channel.send(encodeSyncMessage({ ...silent, hello }))
      await at.clock.advance(200)
    }
    expect(node.replicator.status().sessions.failures.too_often).toBeGreaterThan(40)
    await node.kill()
  })

  it('cannot make others forget or skip an honest entry by naming its hash for a forged one', async () => {
    const at = createStage()
    let met = false
    const anna = await startSimNode({ signer: createSimSigner(at.random), neighbours: () => met }, at)
    anna.ledger.put('dns', 'name', '"anna"')
    // nobody is there: what it claims is held until it knows that
    await at.clock.advance(6 * SECOND)
    const [keyed] = [
      ...anna.ledger
        .snapshot()
        .entriesIn({ from: { bucket: 'dns', key: '' }, to: { bucket: 'dns\0', key: '' } }),
    ]
    if (keyed === undefined) throw new Error('unreachable')
    const { summarize } = anna.ledger.snapshot()
    const hash = summarize
      .call(anna.ledger.snapshot(), { from: keyed, to: { bucket: 'dns', key: 'name\0' } })
      .fingerprint.slice(0, 16)
    const liar = at.network.join(createSimSigner(at.random).peerId, (peer) => met || peer !== anna.id)
    const item = {
      bucket: 'dns',
      key: 'name',
      version: keyed.entry.version,
      hash,
      ownerTag: 1,
      deleted: false,
    }
    const lie: Reply = (message) =>
      message.wants.length > 0
        ? { ...silent, entries: forged(1, anna.id).map((each) => ({ ...each, key: 'name' })) }
        : { ...silent, hello, lists: [{ from: undefined, to: undefined, items: [item] }] }
    await liar.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1e6 }, answerWith(lie))
    // Bert meets the liar first, and Anna only then.
    const bert = await startSimNode(
      { signer: createSimSigner(at.random), neighbours: (peer) => peer !== anna.id || met },
      at,
    )
    await at.clock.advance(20 * SECOND)
    expect(bert.replicator.status().sessions.refusedHere).toHaveProperty('BAD_SIG')
    met = true
    at.network.partition(undefined)
    void bert.replicator.reconcile(anna.id)
    await at.clock.advance(10 * SECOND)
    expect(bert.ledger.snapshot().getLive('dns', 'name')?.value).toBe('"anna"')
    await Promise.all([anna, bert].map((node) => node.kill()))
  })
})

describe('the topic', () => {
  it('counts what is no gzip, or inflates beyond its bound, and stays open', async () => {
    const at = createStage()
    const compression = createCompression(at.clock)
    const node = await startSimNode({ signer: createSimSigner(at.random), compression }, at)
    const stranger = createSimSigner(at.random).peerId
    at.network.inject(stranger, new TextEncoder().encode('no gzip'))
    at.network.inject(stranger, gzipSync(new Uint8Array(70 * 1024 * 1024)))
    await at.clock.advance(SECOND)
    expect(node.replicator.status().received.refused).toEqual({ NOT_GZIP: 2 })
    at.network.inject(stranger, gzipSync(encodeBlock([{ bucket: 'notes', key: 'a', entry: openEntry }])))
    await at.clock.advance(SECOND)
    expect(node.ledger.snapshot().getLive('notes', 'a')?.value).toBe('1')
    await node.kill()
  })

  it('counts a long message that inflates to something else than it says as no gzip', async () => {
    const at = createStage()
    const node = await startSimNode(
      { signer: createSimSigner(at.random), compression: createCompression(at.clock) },
      at,
    )
    const inject = (gzip: Uint8Array) => at.network.inject(createSimSigner(at.random).peerId, gzip)
    const long = gzipSync(
      encodeBlock(
        Array.from({ length: 90 }, (_, n) => ({
          bucket: 'notes',
          key: `k${n}`,
          entry: { ...openEntry, value: `"${'x'.repeat(50_000)}"` },
        })),
      ),
    )
    const lying = Uint8Array.from(long)
    new DataView(lying.buffer).setUint32(lying.length - 4, 4_000_000, true)
    inject(lying)
    await at.clock.advance(5 * SECOND)
    expect(node.replicator.status().received.refused).toEqual({ NOT_GZIP: 1 })
    expect(node.ledger.snapshot().getLive('notes', 'k0')).toBeUndefined()
    expect(node.ledger.snapshot().getLive('notes', 'k89')).toBeUndefined()
    inject(long)
    await at.clock.advance(5 * SECOND)
    expect(node.ledger.snapshot().getLive('notes', 'k89')?.value).toHaveLength(50_002)
    expect(node.replicator.status().received).toMatchObject({ refused: { NOT_GZIP: 1 } })
    await node.kill()
  })

  it('bounds what waits for one author, without holding up another', async () => {
    const at = createStage()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const slow = new TextEncoder().encode('slow')
    const compression = {
      gzip: (bytes: Uint8Array) => bytes,
      inflatedBytes: (bytes: Uint8Array) => bytes.length,
      gunzip: (bytes: Uint8Array) => (Buffer.compare(bytes, slow) === 0 ? promise : bytes),
    }
    const node = await startSimNode({ signer: createSimSigner(at.random), compression }, at)
    const flooder = createSimSigner(at.random).peerId
    for (let message = 0; message < 2_500; message++) at.network.inject(flooder, slow)
    at.network.inject(
      createSimSigner(at.random).peerId,
      encodeBlock([{ bucket: 'notes', key: 'a', entry: openEntry }]),
    )
    await at.clock.advance(SECOND)
    expect(node.replicator.status().received.refused.OVERLOAD).toBeGreaterThan(100)
    expect(node.ledger.snapshot().getLive('notes', 'a')?.value).toBe('1')
    resolve(undefined)
    await node.kill()
  })

  it('refuses an old entry that is replayed after its tombstone was collected', async () => {
    const at = createStage()
    const nodes = [
      await startSimNode({ signer: createSimSigner(at.random) }, at),
      await startSimNode({ signer: createSimSigner(at.random) }, at),
    ]
    const [anna, bert] = nodes
    if (anna === undefined || bert === undefined) throw new Error('unreachable')
    await at.clock.advance(15 * SECOND)
    anna.ledger.put('dns', 'name', '{"1":"10.1.0.1"}')
    await at.clock.advance(SECOND)
    const entry = bert.ledger.snapshot().getLive('dns', 'name')
    if (entry === undefined) throw new Error('nothing to replay')
    anna.ledger.delete('dns', 'name')
    await at.clock.advance(70 * MINUTE)
    for (const { ledger } of nodes) expect(ledger.snapshot().get('dns', 'name')).toBeUndefined()
    at.network.inject(createSimSigner(at.random).peerId, encodeBlock([{ bucket: 'dns', key: 'name', entry }]))
    await at.clock.advance(MINUTE)
    for (const { ledger } of nodes) {
      expect(ledger.snapshot().get('dns', 'name')).toBeUndefined()
      expect(ledger.rejections()).toHaveProperty('REPLAYED')
    }
    await Promise.all(nodes.map((node) => node.kill()))
  })

  it('takes an old entry that is replayed to newcomers from them soon, though one of them leads', async () => {
    const at = createStage()
    const signers = Array.from({ length: 3 }, () => createSimSigner(at.random))
    const leads = leaderOf(signers.map(({ peerId }) => peerId).toSorted())
    const newcomer = signers.find(({ peerId }) => peerId === leads)
    const gone = createSimSigner(at.random)
    const nodes = await Promise.all(
      signers.filter((signer) => signer !== newcomer).map((signer) => startSimNode({ signer }, at)),
    )
    const owner = await startSimNode({ signer: gone }, at)
    await at.clock.advance(15 * SECOND)
    owner.ledger.put('notes', 'old', '1')
    await at.clock.advance(SECOND)
    const entry = owner.ledger.snapshot().getLive('notes', 'old')
    if (entry === undefined || newcomer === undefined) throw new Error('nothing to replay')
    owner.ledger.delete('notes', 'old')
    await at.clock.advance(SECOND)
    await owner.kill()
    await at.clock.advance(70 * MINUTE)
    nodes.push(await startSimNode({ signer: newcomer }, at))
    await at.clock.advance(10 * SECOND)
    for (const { ledger } of nodes) expect(ledger.leader()).toBe(leads)
    const replayed = { bucket: 'notes', key: 'old', entry }
    at.network.inject(createSimSigner(at.random).peerId, encodeBlock([replayed]))
    await at.clock.advance(SECOND / 4)
    expect(nodes.at(-1)?.ledger.snapshot().getLive('notes', 'old')?.version).toBe(entry.version)
    await at.clock.advance(3 * SECOND)
    for (const { ledger } of nodes) expect(ledger.snapshot().getLive('notes', 'old')).toBeUndefined()
    await Promise.all(nodes.map((node) => node.kill()))
  })
})

const openEntry: Entry = { value: '1', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }

it('refuses a lease that holds less than four heartbeats', async () => {
  const at = createStage()
  const signer = createSimSigner(at.random)
  const start = startSimNode({ signer, replicator: { heartbeatIntervalMs: 120_001 } }, at)
  await expect(start).rejects.toMatchObject({ code: 'replication.short_lease' })
})

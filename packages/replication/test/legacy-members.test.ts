import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { leaderOf } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { REPLICATION_PROTOCOL } from '../src/limits.ts'
import { createSimNetwork } from './sim-network.ts'
import { contentOf, createRetainingStore, createSimSigner, startSimNode } from './sim-node.ts'
import { startLegacyMember } from './sim-legacy-member.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function createStage() {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(5)
  const network = createSimNetwork({}, { clock, random })
  return { clock, random, network }
}

describe('with a legacy member', () => {
  it('a node alone with it waits for one whole ledger, then begins', async () => {
    const at = createStage()
    const store = createRetainingStore()
    const signer = createSimSigner(at.random)
    const legacy = startLegacyMember(createSimSigner(at.random), at)
    legacy.ledger.put('notes', 'a', '"legacy"')
    await at.clock.advance(SECOND)
    const node = await startSimNode({ signer, store }, at)
    await at.clock.advance(500)
    expect(node.replicator.status().ready).toBe(false)
    await at.clock.advance(16 * SECOND)
    expect(node.replicator.status()).toMatchObject({ ready: true, readyReason: 'legacy_ledger' })
    expect(contentOf(node.ledger)).toEqual(contentOf(legacy.ledger))
    await Promise.all([node.kill(), legacy.stop()])
  })

  it('writes and deletes pass both ways', async () => {
    const at = createStage()
    const legacy = startLegacyMember(createSimSigner(at.random), at)
    const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
    node.ledger.put('notes', 'ours', '1')
    legacy.ledger.put('notes', 'theirs', '2')
    await at.clock.advance(SECOND)
    expect(contentOf(legacy.ledger)).toHaveLength(2)
    node.ledger.delete('notes', 'theirs')
    await at.clock.advance(SECOND)
    expect(contentOf(legacy.ledger)).toEqual(contentOf(node.ledger))
    expect(contentOf(node.ledger)).toHaveLength(1)
    await Promise.all([node.kill(), legacy.stop()])
  })

  it('one elected node sends the whole ledger every 10 s while it is about, and nobody ten minutes after', async () => {
    const at = createStage()
    const nodes = await Promise.all(
      [1, 2, 3].map(() => startSimNode({ signer: createSimSigner(at.random) }, at)),
    )
    for (const [number, node] of nodes.entries()) node.ledger.put('notes', `of ${number}`, '1')
    await at.clock.advance(5 * MINUTE)
    const wholeSent = () => nodes.map(({ replicator }) => replicator.status().published.wholeLedgers)
    expect(wholeSent()).toEqual([0, 0, 0])

    const legacy = startLegacyMember(createSimSigner(at.random), at)
    await at.clock.advance(MINUTE)
    expect(contentOf(legacy.ledger)).toHaveLength(3)
    const leader = leaderOf(nodes.map(({ id }) => id).toSorted())
    const senders = nodes.filter(({ replicator }) => replicator.status().published.wholeLedgers > 3)
    expect(senders.map(({ id }) => id)).toEqual([leader])

    await legacy.stop()
    await at.clock.advance(11 * MINUTE)
    const before = wholeSent()
    await at.clock.advance(5 * MINUTE)
    expect(wholeSent()).toEqual(before)
    expect(nodes[0]?.replicator.status().legacyMembers).toEqual([])
    await Promise.all(nodes.map((node) => node.kill()))
  })

  it('the whole ledger is sent within a quarter of an hour where the elected node sends nothing', async () => {
    const at = createStage()
    const signers = Array.from({ length: 5 }, () => createSimSigner(at.random))
    const leader = leaderOf(signers.map(({ peerId }) => peerId).toSorted())
    const idle = signers.find(({ peerId }) => peerId === leader)
    const [gone, ...others] = signers.filter((signer) => signer !== idle)
    if (idle === undefined || gone === undefined) throw new Error('unreachable')
    const nodes = await Promise.all(others.map((signer) => startSimNode({ signer }, at)))
    const left = await startSimNode({ signer: gone }, at)
    left.ledger.put('notes', 'of one that has gone', '1')
    await at.clock.advance(10 * SECOND)
    await left.kill()
    const link = at.network.join(idle.peerId)
    await link.channels.handle(REPLICATION_PROTOCOL, { maxMessageBytes: 1 } as never, async (channel) => {
      channel.abort(new Error('has nothing to say'))
    })
    const legacy = startLegacyMember(createSimSigner(at.random), at)
    await at.clock.advance(15 * MINUTE)
    expect(legacy.ledger.snapshot().get('notes', 'of one that has gone')).toBeDefined()
    const sent = nodes.map(({ replicator }) => replicator.status().published.wholeLedgers)
    expect(sent.reduce((sum, count) => sum + count)).toBeLessThan(10)
    link.unplug()
    await Promise.all([...nodes.map((node) => node.kill()), legacy.stop()])
  })

  it('nodes that do not see each other do not all send', async () => {
    const at = createStage()
    const signers = [1, 2, 3, 4, 5, 6].map(() => createSimSigner(at.random))
    const hub = signers[0]?.peerId
    const nodes = await Promise.all(
      signers.map((signer) => startSimNode({ signer, neighbours: (peer) => peer === hub }, at)),
    )
    const legacy = startLegacyMember(createSimSigner(at.random), at)
    await at.clock.advance(2 * MINUTE)
    const before = nodes.map(({ replicator }) => replicator.status().published.wholeLedgers)
    await at.clock.advance(2 * MINUTE)
    const after = nodes.map(({ replicator }) => replicator.status().published.wholeLedgers)
    const sent = after.map((count, at_) => count - (before[at_] ?? 0)).toSorted((one, other) => other - one)
    expect(sent[0]).toBeGreaterThan(8)
    // All others together, of whom one is drawn now and then.
    expect(sent.slice(1).reduce((sum, count) => sum + count)).toBeLessThan(4)
    await Promise.all([...nodes.map((node) => node.kill()), legacy.stop()])
  })

  it('heartbeats come every 40 s, soon after it is first heard, and every 120 s without', async () => {
    const at = createStage()
    const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
    const beats: number[] = []
    node.ledger.subscribe((event) => {
      const own = event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')
      if (own) beats.push(at.clock.now())
    })
    const gaps = () => beats.slice(1).map((beat, index) => (beat - (beats[index] ?? 0)) / SECOND)
    await at.clock.advance(20 * MINUTE)
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(108)
    expect(Math.max(...gaps())).toBeLessThanOrEqual(120.1)
    beats.length = 0
    const legacy = startLegacyMember(createSimSigner(at.random), at)
    const from = at.clock.now()
    await at.clock.advance(5 * MINUTE)
    expect((beats[0] ?? Number.NaN) - from).toBeLessThanOrEqual(40.1 * SECOND)
    expect(Math.max(...gaps())).toBeLessThanOrEqual(40.1)
    await Promise.all([node.kill(), legacy.stop()])
  })

  it('own entries are sent again when it comes back to the topic', async () => {
    const at = createStage()
    const signer = createSimSigner(at.random)
    const node = await startSimNode({ signer: createSimSigner(at.random) }, at)
    node.ledger.put('notes', 'mine', '1')
    await at.clock.advance(10 * SECOND)
    const legacy = startLegacyMember(signer, at)
    await at.clock.advance(6 * SECOND)
    expect(legacy.received.some(({ author, text }) => author === node.id && text.includes('"mine"'))).toBe(
      true,
    )
    expect(legacy.received.every(({ text }) => text.startsWith('{"Index":0,'))).toBe(true)
    await Promise.all([node.kill(), legacy.stop()])
  })
})

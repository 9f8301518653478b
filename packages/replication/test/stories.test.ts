import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { describe, expect, it } from 'vitest'
import { createSimNetwork, type SimNetworkInit } from './sim-network.ts'
import { contentOf, createRetainingStore, createSimSigner, type SimNode, startSimNode } from './sim-node.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

function createStage(seed = 1, wires: SimNetworkInit = {}) {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(seed)
  const network = createSimNetwork(wires, { clock, random })
  const at = { network, clock, random }
  const signers = Array.from({ length: 6 }, () => createSimSigner(random))
  const start = (number: number, init: Partial<Parameters<typeof startSimNode>[0]> = {}) => {
    const signer = signers[number]
    if (signer === undefined) throw new Error('not so many signers')
    return startSimNode({ signer, ...init }, at)
  }
  return { clock, random, network, start }
}

const machine = (node: SimNode) => JSON.stringify({ PeerID: node.id })

function expectEqual(...nodes: readonly SimNode[]) {
  const [first, ...others] = nodes.map(({ ledger }) => contentOf(ledger))
  for (const other of others) expect(other).toEqual(first)
}

describe('two members', () => {
  it('read what the other writes, over the topic', async () => {
    const { clock, start } = createStage()
    const [anna, bert] = [await start(0), await start(1)]
    await clock.advance(10 * SECOND)
    anna.ledger.put('notes', 'a', '"from anna"')
    bert.ledger.put('notes', 'b', '"from bert"')
    await clock.advance(100)
    expect(bert.ledger.snapshot().getLive('notes', 'a')?.value).toBe('"from anna"')
    expect(anna.ledger.snapshot().getLive('notes', 'b')?.value).toBe('"from bert"')
    await Promise.all([anna, bert].map((node) => node.kill()))
  })

  it('know at once that one ended, keep what is its own for it, and know at once that it is back', async () => {
    const { clock, start } = createStage()
    const store = createRetainingStore()
    const [anna, bert] = [await start(0, { store }), await start(1)]
    await clock.advance(10 * SECOND)
    anna.ledger.put('machines', '10.1.0.5', machine(anna))
    await clock.advance(SECOND)
    const isLive = () => bert.ledger.snapshot().isOwnerLive(anna.id, clock.now())
    expect(isLive()).toBe(true)
    const stopping = anna.replicator.stop()
    await clock.advance(100)
    await stopping
    expect(isLive()).toBe(false)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.5')?.owner).toBe(anna.id)
    await anna.kill()
    const again = await start(0, { store })
    await clock.advance(3 * SECOND)
    expect(isLive()).toBe(true)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.5')?.owner).toBe(anna.id)
    expectEqual(again, bert)
    await Promise.all([again, bert].map((node) => node.kill()))
  })

  it('learn within seconds what the other writes where a wrong clock keeps them off each other’s topic', async () => {
    const { clock, start } = createStage(1, { hears: () => false })
    const [anna, bert] = [await start(0), await start(1)]
    await clock.advance(MINUTE)
    anna.ledger.put('notes', 'a', '"from anna"')
    bert.ledger.put('notes', 'b', '"from bert"')
    await clock.advance(7 * SECOND)
    expect(bert.ledger.snapshot().getLive('notes', 'a')?.value).toBe('"from anna"')
    expect(anna.ledger.snapshot().getLive('notes', 'b')?.value).toBe('"from bert"')
    await Promise.all([anna, bert].map((node) => node.kill()))
  })

  it('bring what a gate refused within a minute after it was opened', async () => {
    const { clock, start } = createStage()
    const shut = new Set<string>()
    const anna = await start(0, { admits: (owner) => !shut.has(owner) })
    const bert = await start(1)
    shut.add(bert.id)
    await clock.advance(10 * SECOND)
    bert.ledger.put('notes', 'b', '"from bert"')
    await clock.advance(3 * MINUTE)
    expect(anna.ledger.snapshot().get('notes', 'b')).toBeUndefined()
    expect(anna.ledger.rejections().GATED).toBeGreaterThan(0)
    shut.clear()
    anna.ledger.admissionChanged()
    await clock.advance(70 * SECOND)
    expect(anna.ledger.snapshot().getLive('notes', 'b')?.value).toBe('"from bert"')
    await Promise.all([anna, bert].map((node) => node.kill()))
  })

  it.each([true, false])(
    'do not keep an old entry that was replayed to the younger one after its tombstone was collected (on the topic: %s)',
    async (hears) => {
      const { clock, start } = createStage(1, { hears: () => hears })
      const anna = await start(0, {
        ledger: { tombstoneTtlMs: MINUTE },
        replicator: { scrubIntervalMs: MINUTE },
      })
      await clock.advance(10 * SECOND)
      const position = ['machines', '10.1.0.1'] as const
      anna.ledger.put(...position, machine(anna))
      await clock.advance(SECOND)
      const entry = anna.ledger.snapshot().get(...position)
      anna.ledger.delete(...position)
      await clock.advance(20 * MINUTE)
      expect(anna.ledger.snapshot().get(...position)).toBeUndefined()
      for (const number of [1, 2]) {
        const newcomer = await start(number)
        if (entry === undefined) throw new Error('the machine was not stored')
        newcomer.ledger.merge([{ bucket: position[0], key: position[1], entry }], anna.id)
        expect(newcomer.ledger.snapshot().getLive(...position)).toBeDefined()
        await clock.advance(70 * SECOND)
        expect(newcomer.ledger.snapshot().getLive(...position)).toBeUndefined()
        await newcomer.kill()
      }
      await anna.kill()
    },
  )

  it('leave nothing waiting when they stop', async () => {
    const { clock, start } = createStage()
    const nodes = [await start(0), await start(1)]
    nodes[0]?.replicator.keepAnnounced('machines', '10.1.0.1', () => '{}')
    await clock.advance(5 * MINUTE)
    await Promise.all(nodes.map((node) => node.kill()))
    await clock.advance(15 * MINUTE)
    expect(clock.pending).toBe(0)
  })
})

describe('coming back', () => {
  it('catches up with 1,000 missed writes before the first heartbeat', async () => {
    const { clock, start } = createStage()
    const store = createRetainingStore()
    const anna = await start(0)
    const bert = await start(1, { store })
    await clock.advance(MINUTE)
    await bert.kill()
    for (let at = 0; at < 1000; at++) anna.ledger.put('notes', `missed ${at}`, String(at))
    await clock.advance(MINUTE)
    const back = await start(1, { store })
    let beatAt: number | undefined
    back.ledger.subscribe((event) => {
      const own = event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')
      if (own) beatAt ??= back.ledger.snapshot().count('notes')
    })
    await clock.advance(5 * SECOND)
    expect(back.ledger.snapshot().count('notes')).toBe(1000)
    expect(beatAt).toBe(1000)
    expectEqual(anna, back)
    await Promise.all([anna, back].map((node) => node.kill()))
  })

  it('begins after five seconds when nobody is there', async () => {
    const { clock, start } = createStage()
    const anna = await start(0)
    await clock.advance(4 * SECOND)
    expect(anna.replicator.status().ready).toBe(false)
    await clock.advance(2 * SECOND)
    expect(anna.replicator.status()).toMatchObject({ ready: true, readyReason: 'alone' })
    expect(anna.ledger.snapshot().isOwnerLive(anna.id, clock.now())).toBe(true)
    await anna.kill()
  })

  it('begins after one second when it knows of nobody whom it could meet, and waits for who is found', async () => {
    const { clock, start } = createStage()
    const anna = await start(0, { expectedMembers: () => 'nobody' })
    await clock.advance(SECOND)
    expect(anna.replicator.status()).toMatchObject({ ready: true, readyReason: 'alone' })
    await anna.kill()
    const back = await start(1, { expectedMembers: () => 'somebody' })
    await clock.advance(4 * SECOND)
    expect(back.replicator.status().ready).toBe(false)
    await back.kill()
  })

  it('waits longer while somebody is being met, and not for ever', async () => {
    const { clock, start } = createStage()
    const anna = await start(0, { expectedMembers: () => 'meeting' })
    await clock.advance(14 * SECOND)
    expect(anna.replicator.status().ready).toBe(false)
    await clock.advance(2 * SECOND)
    expect(anna.replicator.status()).toMatchObject({ ready: true, readyReason: 'alone' })
    await anna.kill()
  })

  it('gives up a key that another live owner took when the lease had ended', async () => {
    const { clock, start } = createStage()
    const store = createRetainingStore()
    const anna = await start(0, { store })
    const bert = await start(1)
    anna.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(anna))
    await clock.advance(MINUTE)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(anna.id)
    await anna.kill()
    bert.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(bert))
    await clock.advance(10 * MINUTE)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(bert.id)
    const back = await start(0, { store })
    back.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(anna))
    await clock.advance(5 * MINUTE)
    expectEqual(back, bert)
    expect(back.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(bert.id)
    expect(back.events).toContainEqual({ type: 'yielded', bucket: 'machines', key: '10.1.0.1', to: bert.id })
    expect(back.ledger.conflicts()).toEqual([])
    await Promise.all([back, bert].map((node) => node.kill()))
  })

  it('holds what it is told to claim until it knows what others did, and then claims over nobody', async () => {
    const { clock, start } = createStage()
    const store = createRetainingStore()
    const anna = await start(0, { store })
    const bert = await start(1)
    await clock.advance(MINUTE)
    await anna.ledger.put('dns', 'x', '"anna"').settled
    await clock.advance(MINUTE)
    await anna.kill()
    await clock.advance(10 * MINUTE)
    await bert.ledger.put('dns', 'x', '"bert"').settled
    const back = await start(0, { store })
    const [taken, free] = [back.ledger.put('dns', 'x', '"anna"'), back.ledger.put('dns', 'y', '"anna"')]
    const note = back.ledger.put('notes', 'n', '1')
    expect(await note.settled).toMatchObject({ state: 'committed' })
    expect(back.ledger.snapshot().getLive('dns', 'y')).toBeUndefined()
    await clock.advance(5 * SECOND)
    expect(await free.settled).toMatchObject({ state: 'committed' })
    expect(await taken.settled).toMatchObject({
      state: 'refused',
      error: { code: 'ledger.not_owner', details: { owner: bert.id } },
    })
    expectEqual(back, bert)
    expect(back.ledger.snapshot().getLive('dns', 'x')?.owner).toBe(bert.id)
    expect([...back.ledger.conflicts(), ...bert.ledger.conflicts()]).toEqual([])
    await Promise.all([back, bert].map((node) => node.kill()))
  })

  it('holds claims again after a suspension that outlasted its lease', async () => {
    const { clock, start } = createStage()
    const anna = await start(0)
    await clock.advance(MINUTE)
    anna.setClock(9 * MINUTE)
    for (let s = 0; s < 120 && anna.replicator.status().ready; s++) await clock.advance(SECOND)
    const claim = anna.ledger.put('dns', 'x', '"anna"')
    await clock.advance(SECOND)
    expect(anna.ledger.snapshot().getLive('dns', 'x')).toBeUndefined()
    await clock.advance(5 * SECOND)
    expect(await claim.settled).toMatchObject({ state: 'committed' })
    await anna.kill()
  })

  it('learns first what others did when it was suspended for longer than its lease', async () => {
    const { clock, start, network } = createStage()
    const anna = await start(0)
    const bert = await start(1)
    anna.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(anna))
    await clock.advance(MINUTE)
    network.partition((peer) => (peer === anna.id ? 1 : 0))
    bert.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(bert))
    await clock.advance(5 * MINUTE)
    network.partition(undefined)
    await clock.advance(MINUTE)
    expectEqual(anna, bert)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(anna.id)
    await Promise.all([anna, bert].map((node) => node.kill()))
  })
})

describe('a name that a person wrote', () => {
  const NAME = ['dns', 'nas.mesh'] as const
  const VALUE = '{"1":"10.1.0.1"}'
  const nameAt = (node: SimNode) => node.ledger.snapshot().getLive(...NAME)

  /** One writes the name, and goes for so long that the other ends it. */
  async function beAway() {
    const { clock, start } = createStage()
    const store = createRetainingStore()
    const [anna, bert] = [await start(0, { store }), await start(1)]
    await clock.advance(MINUTE)
    await anna.ledger.put(...NAME, VALUE).settled
    await clock.advance(MINUTE)
    await anna.kill()
    await clock.advance(30 * MINUTE)
    expect(nameAt(bert)).toBeUndefined()
    return { clock, bert, comeBack: () => start(0, { store }) }
  }

  it('is there again after its node was off for a day', async () => {
    const { clock, bert, comeBack } = await beAway()
    for (let hour = 0; hour < 24; hour++) await clock.advance(60 * MINUTE)
    const back = await comeBack()
    await clock.advance(MINUTE)
    expectEqual(back, bert)
    expect(nameAt(bert)).toMatchObject({ owner: back.id, value: VALUE })
    await clock.advance(30 * MINUTE)
    expect(nameAt(bert)).toMatchObject({ owner: back.id, value: VALUE })
    await Promise.all([back, bert].map((node) => node.kill()))
  })

  it('is another’s where it was taken while its node was away', async () => {
    const { clock, bert, comeBack } = await beAway()
    await bert.ledger.put(...NAME, '{"1":"10.1.0.2"}').settled
    const back = await comeBack()
    await clock.advance(5 * MINUTE)
    expectEqual(back, bert)
    expect(nameAt(back)?.owner).toBe(bert.id)
    expect(back.ledger.conflicts()).toEqual([])
    await Promise.all([back, bert].map((node) => node.kill()))
  })

  it.each([-1, 1])('is there again after its node’s clock was a day off (%i)', async (days) => {
    const { clock, start } = createStage()
    const [anna, bert, carl] = [await start(0), await start(1), await start(2)]
    await clock.advance(MINUTE)
    await anna.ledger.put(...NAME, VALUE).settled
    await clock.advance(15 * MINUTE)
    anna.setClock(days * 24 * 60 * MINUTE)
    await clock.advance(30 * MINUTE)
    expect(nameAt(bert)).toBeUndefined()
    anna.setClock(0)
    await clock.advance(3 * MINUTE)
    expectEqual(anna, bert, carl)
    expect(nameAt(bert)).toMatchObject({ owner: anna.id, value: VALUE })
    await Promise.all([anna, bert, carl].map((node) => node.kill()))
  })

  it('stays ended where its node ended it', async () => {
    const { clock, start } = createStage()
    const [anna, bert] = [await start(0), await start(1)]
    await clock.advance(MINUTE)
    await anna.ledger.put(...NAME, VALUE).settled
    anna.ledger.delete(...NAME)
    await clock.advance(30 * MINUTE)
    expectEqual(anna, bert)
    expect(nameAt(bert)).toBeUndefined()
    await Promise.all([anna, bert].map((node) => node.kill()))
  })
})

describe('a partition', () => {
  it('heals to equal ledgers within seconds', async () => {
    const { clock, network, start } = createStage()
    const nodes = [await start(0), await start(1), await start(2), await start(3)]
    await clock.advance(MINUTE)
    const left = new Set(nodes.slice(0, 2).map(({ id }) => id))
    network.partition((peer) => (left.has(peer) ? 0 : 1))
    for (const node of nodes) {
      node.ledger.put('notes', `of ${node.id}`, '1')
      node.ledger.put('notes', 'shared', JSON.stringify(node.id))
      await clock.advance(SECOND)
    }
    await clock.advance(2 * MINUTE)
    expect(nodes[0] && contentOf(nodes[0].ledger)).toHaveLength(3)
    network.partition(undefined)
    await clock.advance(5 * SECOND)
    expectEqual(...nodes)
    expect(nodes[0] && contentOf(nodes[0].ledger)).toHaveLength(5)
    await Promise.all(nodes.map((node) => node.kill()))
  })

  it('that outlasts a lease gives a live owner its key back that the others had reaped', async () => {
    const { clock, network, start } = createStage()
    const nodes = [await start(0), await start(1), await start(2)]
    const [anna, bert] = nodes
    if (anna === undefined || bert === undefined) throw new Error('unreachable')
    anna.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(anna))
    await clock.advance(15 * MINUTE)
    network.partition((peer) => (peer === anna.id ? 1 : 0))
    await clock.advance(25 * MINUTE)
    expect(bert.ledger.snapshot().get('machines', '10.1.0.1')?.deleted).toBe(true)
    expect(anna.ledger.snapshot().getLive('machines', '10.1.0.1')).toBeDefined()
    network.partition(undefined)
    await clock.advance(3 * MINUTE)
    expectEqual(...nodes)
    expect(bert.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(anna.id)
    await Promise.all(nodes.map((node) => node.kill()))
  })

  it('of one leaf, which ended and took what it thought free, leaves every owner its own in a star', async () => {
    const { clock, network, start } = createStage()
    const hub = await start(0)
    const neighbours = (peer: string) => peer === hub.id
    const [leaf, cut] = [await start(1, { neighbours }), await start(2, { neighbours })]
    leaf.replicator.keepAnnounced('machines', '10.1.0.1', () => machine(leaf))
    leaf.replicator.keepAnnounced('users', leaf.id, () => machine(leaf))
    await clock.advance(15 * MINUTE)
    network.partition((peer) => (peer === cut.id ? 1 : 0))
    await clock.advance(9 * MINUTE)
    await cut.ledger.put('machines', '10.1.0.1', machine(cut)).settled
    await clock.advance(21 * MINUTE)
    expect(cut.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(cut.id)
    expect(cut.ledger.snapshot().getLive('users', leaf.id)).toBeUndefined()
    cut.ledger.delete('machines', '10.1.0.1')
    network.partition(undefined)
    await clock.advance(3 * MINUTE)
    expectEqual(hub, leaf, cut)
    expect(cut.ledger.snapshot().getLive('machines', '10.1.0.1')?.owner).toBe(leaf.id)
    expect(cut.ledger.snapshot().getLive('users', leaf.id)?.owner).toBe(leaf.id)
    await Promise.all([hub, leaf, cut].map((node) => node.kill()))
  })

  it('in which both sides claim a key ends in a conflict that both owners are told of', async () => {
    const { clock, network, start } = createStage()
    const nodes = [await start(0), await start(1), await start(2)]
    const [anna, bert] = nodes
    if (anna === undefined || bert === undefined) throw new Error('unreachable')
    await clock.advance(MINUTE)
    network.partition((peer) => (peer === anna.id ? 1 : 0))
    anna.replicator.keepAnnounced('machines', '10.1.0.9', () => machine(anna))
    await clock.advance(MINUTE)
    bert.replicator.keepAnnounced('machines', '10.1.0.9', () => machine(bert))
    await clock.advance(MINUTE)
    network.partition(undefined)
    await clock.advance(5 * MINUTE)
    for (const node of [anna, bert]) {
      expect(node.ledger.conflicts()).toMatchObject([{ bucket: 'machines', key: '10.1.0.9' }])
      expect(node.ledger.snapshot().getLive('machines', '10.1.0.9')?.owner).toBe(node.id)
    }
    await Promise.all(nodes.map((node) => node.kill()))
  })
})

describe('two that claim one key within ten seconds', () => {
  it('end with one owner, on both and on a third', async () => {
    for (const apartMs of [0, 5, 30, 900, 8000]) {
      const { clock, network, start } = createStage(apartMs + 7)
      const nodes = [await start(0), await start(1), await start(2)]
      const [anna, bert] = nodes
      if (anna === undefined || bert === undefined) throw new Error('unreachable')
      await clock.advance(MINUTE)
      network.partition((peer) => (peer === anna.id ? 1 : 0))
      anna.replicator.keepAnnounced('machines', '10.1.0.9', () => machine(anna))
      await clock.advance(apartMs)
      bert.replicator.keepAnnounced('machines', '10.1.0.9', () => machine(bert))
      network.partition(undefined)
      await clock.advance(5 * MINUTE)
      expectEqual(...nodes)
      const owner = anna.ledger.snapshot().getLive('machines', '10.1.0.9')?.owner
      expect([anna.id, bert.id]).toContain(owner)
      for (const node of nodes) expect(node.ledger.conflicts()).toEqual([])
      await Promise.all(nodes.map((node) => node.kill()))
    }
  })
})

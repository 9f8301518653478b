/** Members who are kept out: what ends when they are, what goes on, and how they are let in again. */
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { Admission, ByteStream } from '../src/index.ts'
import { createMemoryNode, type P2pMember } from '../src/testing.ts'

const parts = { clock: systemClock, random: systemRandom, logger: silentLogger }
const SOON = { withinMs: 10_000, everyMs: 20 }
const OPEN = { maxMessageBytes: 64, ungated: true } as const

const nodes: P2pMember[] = []
afterEach(async () => {
  for (const node of nodes.splice(0).reverse()) await node.stop()
})

/** An answer that the test switches. */
function createSwitch() {
  const out = new Set<string>()
  const listeners = new Set<() => void>()
  const admission: Admission = {
    mayUse: (peer) => !out.has(peer),
    isBanned: () => false,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const set = (peer: string, isOut: boolean) => {
    if (isOut) out.add(peer)
    else out.delete(peer)
    for (const listener of listeners) listener()
  }
  return { admission, set }
}

test('a member that is kept out loses its streams at once and its connection not, and comes back', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const { admission, set } = createSwitch()
  const identity = () => systemRandom.bytes(32)
  const guarded = await createMemoryNode(
    { network, identity: identity(), admission, publicTopic: true },
    parts,
  )
  nodes.push(guarded)
  const bootstrapPeers = guarded.addresses()
  const other = await createMemoryNode(
    { network, identity: identity(), bootstrapPeers, publicTopic: true },
    parts,
  )
  nodes.push(other)
  const [heard, spoken]: [string[], string[]] = [[], []]
  guarded.topic.onMessage(({ author }) => heard.push(author))
  guarded.publicTopic?.onMessage(({ author, text, signature }) => spoken.push(author, text, signature))
  const streams: ByteStream[] = []
  await guarded.streams.handle('/mesh/test/1', { from: 'proven', maxPerPeer: 4, relayed: true }, (stream) => {
    streams.push(stream)
  })
  const asked: string[] = []
  await guarded.channels.handle('/mesh/ask/1', OPEN, async ({ peer }) => void asked.push(peer))
  const present: boolean[] = []
  guarded.channels.onPeerWith('/mesh/replication/1', (_peer, is) => present.push(is))
  await eventually(() => expect(guarded.topic.peers()).toEqual([other.self]), SOON)
  const open = () => other.streams.open(guarded.self, '/mesh/test/1', { from: 'proven', relayed: true })
  const stream = await open()
  let ended = false
  stream.onBytes(() => {})
  stream.onEnd(() => (ended = true))
  await eventually(() => expect(streams).toHaveLength(1), SOON)

  set(other.self, true)
  await eventually(() => expect(ended).toBe(true), SOON)
  expect(guarded.peer(other.self)).toMatchObject({ connected: true, member: false })
  expect(guarded.topic.peers()).toEqual([])
  const refused = await open()
  await new Promise<void>((resolve) => refused.onEnd(() => resolve()))
  await expect(
    guarded.streams.open(other.self, '/mesh/test/1', { from: 'proven', relayed: true }),
  ).rejects.toMatchObject({ code: 'p2p.not_admitted' })
  await other.topic.publish(Uint8Array.of(1))
  await other.publicTopic?.publish({ text: 'challenge', signature: 'x' })
  const channel = await other.channels.open(guarded.self, '/mesh/ask/1', OPEN)
  await eventually(() => {
    expect(asked).toEqual([other.self])
    expect(spoken).toEqual([other.self, 'challenge', 'x'])
    const refusals = guarded.refusals()
    // the other one tries again to tell of peers
    expect(refusals['channel.not_admitted']).toBeGreaterThanOrEqual(1)
    expect(refusals).toMatchObject({ 'topic.not_admitted': 1 })
  }, SOON)
  await channel.close()
  expect(heard).toEqual([])
  expect(streams).toHaveLength(1)

  set(other.self, false)
  expect(guarded.topic.peers()).toEqual([other.self])
  await open()
  await other.topic.publish(Uint8Array.of(2))
  await eventually(() => {
    expect(streams).toHaveLength(2)
    expect(heard).toEqual([other.self])
  }, SOON)
})

test('a member that is kept out hears nothing on the topic, of anybody, until it is let in', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const { admission, set } = createSwitch()
  const start = async (init: Partial<Parameters<typeof createMemoryNode>[0]>) => {
    const all = { network, identity: systemRandom.bytes(32), peerExchange: false, publicTopic: true }
    const node = await createMemoryNode({ ...all, ...init }, parts)
    nodes.push(node)
    return node
  }
  const guarded = await start({ admission })
  const [out, far] = await Promise.all([
    start({ bootstrapPeers: guarded.addresses() }),
    start({ bootstrapPeers: guarded.addresses() }),
  ])
  const hearing = (node: P2pMember) => {
    const heard: string[] = []
    node.topic.onMessage(({ plaintext }) => heard.push(Buffer.from(plaintext).toString()))
    return heard
  }
  const [byOut, byFar, byGuarded] = [hearing(out), hearing(far), hearing(guarded)]
  const publicly: string[] = []
  out.publicTopic?.onMessage(({ text }) => publicly.push(text))
  const say = (node: P2pMember, text: string) => node.topic.publish(Buffer.from(text))
  await eventually(() => expect(guarded.topic.peers()).toHaveLength(2), SOON)
  await eventually(async () => {
    await say(far, 'before')
    expect([byGuarded, byOut]).toEqual([
      expect.arrayContaining(['before']),
      expect.arrayContaining(['before']),
    ])
  }, SOON)
  byOut.length = 0

  set(out.self, true)
  expect(await say(guarded, 'own')).toBe(1)
  await say(far, 'passed on')
  await eventually(() => expect(byGuarded).toContain('passed on'), SOON)
  await eventually(async () => {
    await guarded.publicTopic?.publish({ text: 'public', signature: '' })
    expect(publicly).toContain('public')
  }, SOON)
  await say(out, 'from outside')
  await eventually(() => expect(guarded.refusals()['topic.not_admitted']).toBeGreaterThan(0), SOON)
  expect(byOut).toEqual([])

  set(out.self, false)
  expect(await say(guarded, 'again')).toBe(2)
  await eventually(() => expect([byOut, byFar.at(-1)]).toEqual([['again'], 'again']), SOON)
  await say(far, 'passed on again')
  await eventually(() => expect(byOut).toContain('passed on again'), SOON)
})

test('one author cannot flood the public topic, and what is too long is not passed on', async () => {
  const network = generateNetworkConfig({}, systemRandom)
  const first = await createMemoryNode(
    { network, identity: systemRandom.bytes(32), publicTopic: true },
    parts,
  )
  nodes.push(first)
  const identity = systemRandom.bytes(32)
  const other = await createMemoryNode(
    { network, identity, bootstrapPeers: first.addresses(), publicTopic: true },
    parts,
  )
  nodes.push(other)
  let told = 0
  first.publicTopic?.onMessage(() => told++)
  await eventually(() => expect(first.topic.peers()).toEqual([other.self]), SOON)
  await eventually(async () => {
    expect(await other.publicTopic?.publish({ text: 'long', signature: 'x'.repeat(5_000) })).toBe(1)
  }, SOON)
  for (let at = 0; at < 20; at++) await other.publicTopic?.publish({ text: `${at}`, signature: '' })
  await eventually(() => {
    expect(first.refusals()['topic.too_long']).toBe(1)
    expect((first.refusals()['topic.too_many'] ?? 0) + told).toBe(20)
  }, SOON)
  expect(told).toBeLessThan(8)
})

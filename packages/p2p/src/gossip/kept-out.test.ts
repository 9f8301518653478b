import type { PeerId } from '@libp2p/interface'
import { expect, test } from 'vitest'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { KeptOutPeers } from './kept-out.ts'

const peerId = (id: string) => ({ toString: () => id }) as unknown as PeerId

/** As much of gossipsub as stands behind subscriptions, grafts and requests for messages. */
function createPubsub() {
  const pubsub = new EventTarget() as EventTarget & Partial<Record<string, unknown>>
  const topics = new Map<string, Set<string>>()
  const mesh = new Map([['sealed', new Set<string>()]])
  const parts = {
    peers: new Map(['in', 'out'].map((id) => [id, peerId(id)])),
    topics,
    mesh,
    handleReceivedSubscription(from: PeerId, topic: string, subscribe: boolean) {
      const peers = topics.get(topic) ?? new Set()
      topics.set(topic, peers)
      if (subscribe) peers.add(String(from))
      else peers.delete(String(from))
      return true
    },
    async handleGraft(peer: string, graft: readonly { readonly topicID?: string }[]) {
      for (const { topicID = '' } of graft) mesh.get(topicID)?.add(peer)
    },
    graftOnSubscribe: (peer: string, topic: string) => mesh.get(topic)?.add(peer) !== undefined,
    sendGraft: () => {},
    handleIWant: () => [{ topic: 'sealed' }, { topic: 'public' }],
  }
  return Object.assign(pubsub, parts) as unknown as GossipInternals
}

function start() {
  const kept = new Set(['out'])
  const pubsub = createPubsub()
  const keptOut = new KeptOutPeers({ pubsub, mayUse: (peer) => !kept.has(peer) })
  keptOut.start()
  keptOut.rotate(new Set(['sealed', 'public']), new Set(['public']))
  const subscribe = (peer: string, topic: string, is = true) =>
    pubsub.handleReceivedSubscription(peerId(peer), topic, is)
  const listed = (topic: string) => [...(pubsub.topics.get(topic) ?? [])]
  return { kept, pubsub, keptOut, subscribe, listed }
}

test('who is kept out is counted on the public topic only, and grafts and asks for nothing else', async () => {
  const { pubsub, subscribe, listed } = start()
  expect(subscribe('out', 'sealed')).toBe(false)
  for (const [peer, topic] of [
    ['out', 'public'],
    ['in', 'sealed'],
  ] as const) {
    expect(subscribe(peer, topic)).toBe(true)
  }
  expect([listed('sealed'), listed('public')]).toEqual([['in'], ['out']])
  await pubsub.handleGraft('out', [{ topicID: 'sealed' }])
  await pubsub.handleGraft('in', [{ topicID: 'sealed' }])
  expect([...(pubsub.mesh.get('sealed') ?? [])]).toEqual(['in'])
  expect(pubsub.handleIWant('out', [])).toEqual([{ topic: 'public' }])
  expect(pubsub.handleIWant('in', [])).toHaveLength(2)
})

test('a subscription from before counts once the peer is let in, unless it was taken back or the topic is over', () => {
  const { kept, keptOut, subscribe, listed } = start()
  subscribe('out', 'sealed')
  subscribe('out', 'older')
  keptOut.rotate(new Set(['sealed']), new Set())
  kept.clear()
  keptOut.review()
  expect([listed('sealed'), listed('older')]).toEqual([['out'], []])
  kept.add('out')
  keptOut.review()
  expect(listed('sealed')).toEqual([])
  subscribe('out', 'sealed', false)
  kept.clear()
  keptOut.review()
  expect(listed('sealed')).toEqual([])
})

test('a change is told as one of subscriptions, and ends what was grafted', async () => {
  const { kept, pubsub, keptOut, subscribe } = start()
  const told: unknown[] = []
  pubsub.addEventListener('subscription-change', ({ detail }) => told.push(detail.subscriptions[0]))
  subscribe('in', 'sealed')
  await pubsub.handleGraft('in', [{ topicID: 'sealed' }])
  kept.add('in')
  keptOut.review()
  expect(pubsub.mesh.get('sealed')?.size).toBe(0)
  kept.delete('in')
  keptOut.review()
  keptOut.review()
  expect([...(pubsub.mesh.get('sealed') ?? [])]).toEqual(['in'])
  expect(told).toEqual([
    { topic: 'sealed', subscribe: false },
    { topic: 'sealed', subscribe: true },
  ])
})

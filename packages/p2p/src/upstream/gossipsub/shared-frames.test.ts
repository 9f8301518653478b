import { gossipsub } from '@libp2p/gossipsub'
import { RPC } from '@libp2p/gossipsub/message'
import { identify } from '@libp2p/identify'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import type { Uint8ArrayList } from 'uint8arraylist'
import { shareFrames } from './shared-frames.ts'

interface Pushed {
  readonly peer: string
  readonly bytes: Uint8Array
}

/** What the library keeps to itself. */
interface Sending {
  readonly streamsOutbound: Map<string, object>
  readonly control: Map<string, object>
  sendRpc(peer: string, rpc: RPC): boolean
}

async function setUp() {
  const host = await createLibp2p({
    start: false,
    services: { identify: identify(), pubsub: gossipsub() as never },
  })
  onTestFinished(() => host.stop())
  const pubsub = host.services['pubsub'] as unknown as Sending
  const pushed: Pushed[] = []
  const add = (peer: string) => {
    const pushPrefixed = (frame: Uint8ArrayList) => {
      const bytes = [...frame].at(-1) ?? new Uint8Array()
      pushed.push({ peer, bytes })
    }
    // as the library's own stream does it
    const push = (rpc: Uint8Array) => pushed.push({ peer, bytes: rpc })
    pubsub.streamsOutbound.set(peer, { pushPrefixed, push, close: async () => {} })
  }
  for (const peer of ['a', 'b', 'c']) add(peer)
  return { pubsub, pushed }
}

const rpcOf = (message: RPC.Message): RPC => ({ subscriptions: [], messages: [message] })

test('a message that goes to several peers is encoded once, and each gets it whole', async () => {
  const { pubsub, pushed } = await setUp()
  shareFrames(pubsub as never)
  const message = { topic: 't', data: new Uint8Array(1_000).fill(7), from: new Uint8Array([1]) }
  for (const peer of ['a', 'b', 'c']) expect(pubsub.sendRpc(peer, rpcOf(message))).toBe(true)
  expect(pushed.map(({ peer }) => peer)).toEqual(['a', 'b', 'c'])
  expect(new Set(pushed.map(({ bytes }) => bytes.buffer)).size).toBe(1)
  const [first] = pushed
  expect(RPC.decode(first?.bytes ?? new Uint8Array()).messages).toEqual([message])
})

test('a peer for which something rides along gets it with a frame of its own', async () => {
  const { pubsub, pushed } = await setUp()
  shareFrames(pubsub as never)
  const message = { topic: 't', data: new Uint8Array(10), from: new Uint8Array([1]) }
  const prune = [{ topicID: 't', peers: [] }]
  pubsub.control.set('b', { graft: [], prune, ihave: [], iwant: [], idontwant: [] })
  for (const peer of ['a', 'b']) pubsub.sendRpc(peer, rpcOf(message))
  const [toA, toB] = pushed.map(({ bytes }) => RPC.decode(bytes))
  expect(toA?.control).toBeUndefined()
  expect(toB?.messages).toEqual([message])
  expect(pubsub.control.has('b')).toBe(false)
})

test('a stream that is closed takes nothing, and that is said', async () => {
  const { pubsub } = await setUp()
  shareFrames(pubsub as never)
  const closed = {
    pushPrefixed() {
      throw new Error('the stream is closed')
    },
    close: async () => {},
  }
  pubsub.streamsOutbound.set('a', closed)
  const message = { topic: 't', data: new Uint8Array(10), from: new Uint8Array([1]) }
  expect([pubsub.sendRpc('a', rpcOf(message)), pubsub.sendRpc('gone', rpcOf(message))]).toEqual([
    false,
    false,
  ])
})

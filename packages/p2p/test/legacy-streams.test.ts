/** Streams of legacy members: one packet each, to and from peers that prove nothing. */
import { parsePeerId, type PeerId, systemClock, systemRandom } from '@mesh/core'
import { createNetworkSecrets, createSealer } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeEnvelope } from '../src/gossip/envelope.ts'
import type { P2pMember } from '../src/node.ts'
import { createTestNetwork, type TestHost, type TestNetwork } from './members.ts'
import { startLoopbackNode } from './loopback-node.ts'

const PLAIN = '/edgevpn/0.1'
const HEARD = { from: 'heard', relayed: false } as const

let network: TestNetwork
let node: P2pMember
let legacy: TestHost
let legacyId: PeerId

beforeEach(async () => {
  network = createTestNetwork()
  node = await startLoopbackNode({ network: network.config })
  legacy = await network.stranger()
  legacyId = parsePeerId(legacy.peerId.toString())
  await legacy.dial(node.addresses().map((text) => multiaddr(text)))
  await eventually(() => node.connect(legacyId, AbortSignal.timeout(5_000)))
})
afterEach(async () => {
  await Promise.all([node.stop(), network.stop()])
})

/** The legacy node authors a sealed message, as all of them do every few seconds, and what stands in it is believed. */
async function beHeard(): Promise<void> {
  node.topic.onMessage(({ author }) => node.topic.noteMember(author))
  const secrets = createNetworkSecrets(network.config)
  const window = secrets.windowAt(systemClock.now())
  const { topic } = secrets.ofWindow(window)
  legacy.services.pubsub.subscribe(topic)
  const sealer = createSealer(secrets, nativeSealCipher)
  await eventually(
    async () => {
      const sealed = sealer.seal(Uint8Array.of(1), window, systemRandom.bytes(12))
      await legacy.services.pubsub.publish(topic, encodeEnvelope(sealed))
      expect(node.peer(legacyId)?.member).toBe(true)
    },
    { everyMs: 200 },
  )
}

/** Texts that came on the legacy node, one for each stream. */
async function listen(): Promise<string[]> {
  const got: string[] = []
  await legacy.handle(
    PLAIN,
    (stream) => {
      const chunks: Uint8Array[] = []
      stream.addEventListener('message', ({ data }) => {
        chunks.push(data.subarray())
        if (stream.readBufferLength === 0 && stream.remoteWriteStatus === 'closed') end()
      })
      const end = () => {
        got.push(Buffer.concat(chunks.splice(0)).toString())
        stream.close().catch(() => {})
      }
      stream.addEventListener('remoteCloseWrite', () => stream.readBufferLength === 0 && end())
    },
    { maxInboundStreams: 512 },
  )
  await eventually(() => expect(node.speaks(legacyId, PLAIN)).toBe(true))
  return got
}

test('takes many short streams at once of a member that only was heard', async () => {
  const got: string[] = []
  const ends: (Error | undefined)[] = []
  await node.streams.handle(PLAIN, { ...HEARD, maxPerPeer: 256 }, (stream) => {
    stream.onBytes((bytes) => got.push(Buffer.from(bytes).toString()))
    stream.onEnd((error) => ends.push(error))
  })
  await beHeard()
  const [connection] = legacy.getConnections()
  // the library's own limit is 32 a connection
  const texts = Array.from({ length: 100 }, (_, index) => `packet ${index}`)
  const streams = await Promise.all(
    texts.map(async () => await connection?.newStream([PLAIN], { maxOutboundStreams: 256 })),
  )
  for (const [index, stream] of streams.entries()) {
    stream?.send(Buffer.from(texts[index] ?? ''))
    stream?.close().catch(() => {})
  }
  await eventually(() => expect(ends).toEqual(texts.map(() => undefined)))
  expect(got.toSorted()).toEqual(texts.toSorted())
  await eventually(() => expect(streams.map((stream) => stream?.status)).toEqual(texts.map(() => 'closed')))
  expect(node.refusals()['channel.not_member']).toBeUndefined()
})

test('resets at once what a peer sends that was never heard', async () => {
  let served = 0
  await node.streams.handle(PLAIN, { ...HEARD, maxPerPeer: 256 }, () => served++)
  const stream = await legacy
    .getConnections()[0]
    ?.newStream([PLAIN])
    .catch(() => undefined)
  await eventually(() => expect(stream?.status ?? 'reset').toBe('reset'))
  expect([served, node.refusals()['channel.not_member']]).toEqual([0, 1])
})

test('sends one packet a stream, the protocol and the packet together', async () => {
  const got = await listen()
  const texts = Array.from({ length: 50 }, (_, index) => `packet ${index}`)
  const ends: (Error | undefined)[] = []
  await Promise.all(
    texts.map(async (text) => {
      const stream = await node.streams.open(legacyId, PLAIN, HEARD)
      stream.onEnd((error) => ends.push(error))
      stream.send(Buffer.from(text))
      stream.close()
    }),
  )
  await eventually(() => expect(got.toSorted()).toEqual(texts.toSorted()))
  await eventually(() => expect(ends).toEqual(texts.map(() => undefined)))
})

test('is open before the peer has answered, and ends with an error when it does not speak the protocol', async () => {
  const stream = await node.streams.open(legacyId, '/edgevpn/none/0.1', HEARD)
  const ends: (string | undefined)[] = []
  stream.onEnd((error) => ends.push(error?.message))
  stream.send(Buffer.from('packet'))
  await eventually(() => expect(ends).toEqual(['the peer does not speak /edgevpn/none/0.1']))
})

test('who only listens names the protocol, too, and gets what comes', async () => {
  await legacy.handle(PLAIN, (stream) => {
    stream.send(Buffer.from('a banner'))
    stream.close().catch(() => {})
  })
  const stream = await node.streams.open(legacyId, PLAIN, HEARD)
  const got: string[] = []
  const ends: (Error | undefined)[] = []
  stream.onBytes((bytes) => got.push(Buffer.from(bytes).toString()))
  stream.onEnd((error) => ends.push(error))
  await eventually(() => expect([got, ends]).toEqual([['a banner'], [undefined]]))
})

/** Streams over TLS connections beside libp2p's, between real nodes on loopback. */
import { type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { generateNetworkConfig } from '../src/index.ts'
import { createP2pNode, type MeshNode } from '../src/node.ts'
import type { ByteStream } from '../src/p2p-node.ts'

const PROTOCOL = '/mesh/test/1'
const RULES = { from: 'proven', relayed: true, halfClose: true, bulk: true } as const
const network = generateNetworkConfig({}, systemRandom)
const nodes: MeshNode[] = []

async function start(bootstrapPeers: readonly string[] = []): Promise<MeshNode> {
  const node = await createP2pNode(
    {
      network,
      identity: systemRandom.bytes(32),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      private: true,
      bootstrapPeers,
      switches: { mdns: false, dht: false, ws: false, webrtcDirect: false, webrtc: false },
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  nodes.push(node)
  return node
}

async function startPair(): Promise<readonly [MeshNode, MeshNode]> {
  const a = await start()
  const b = await start(a.addresses())
  await eventually(() => {
    expect(b.speaks(a.self, '/mesh/bulk/1')).toBe(true)
    expect(a.speaks(b.self, '/mesh/bulk/1')).toBe(true)
  })
  return [a, b]
}

function collect(stream: ByteStream) {
  const chunks: Uint8Array[] = []
  stream.onBytes((bytes) => chunks.push(bytes))
  const ended = new Promise<Error | undefined>((resolve) => stream.onEnd(resolve))
  const remoteEnded = new Promise<void>((resolve) => stream.onRemoteEnd(resolve))
  return { text: () => Buffer.concat(chunks).toString(), ended, remoteEnded }
}

/** Sends back what comes, and ends when the other side has ended. */
function echo(stream: ByteStream): void {
  stream.onBytes((bytes) => void stream.send(bytes))
  stream.onRemoteEnd(() => stream.end())
}

async function say(from: MeshNode, to: PeerId, text: string) {
  const stream = await from.streams.open(to, PROTOCOL, RULES)
  const heard = collect(stream)
  stream.send(Buffer.from(text))
  stream.end()
  const error = await heard.ended
  return { transport: stream.transport, text: heard.text(), error }
}

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

test('a stream goes over TLS from either side, whoever dialled, and each direction ends for itself', async () => {
  const [a, b] = await startPair()
  for (const node of [a, b]) await node.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 10 }, echo)
  const said = { transport: 'tcp tls', error: undefined }
  expect(await say(b, a.self, 'hello')).toEqual({ ...said, text: 'hello' })
  expect(await say(a, b.self, 'hello back')).toEqual({ ...said, text: 'hello back' })
  for (let at = 0; at < 20; at++) {
    expect(await say(b, a.self, `number ${at}`)).toEqual({ ...said, text: `number ${at}` })
  }
  expect(b.bandwidth.byProtocol().get(PROTOCOL)?.totalIn).toBeGreaterThan(0)
})

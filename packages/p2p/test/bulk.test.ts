/** Streams over TLS connections beside libp2p's, between real nodes on loopback. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { type PeerId, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { generateNetworkConfig } from '@mesh/network'
import type { P2pMember } from '../src/node.ts'
import type { ByteStream } from '../src/p2p-node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const PROTOCOL = '/mesh/test/1'
const RULES = { from: 'proven', relayed: true, halfClose: true, bulk: true } as const
const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []

async function start(bootstrapPeers: readonly string[] = []): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, bootstrapPeers })
  nodes.push(node)
  return node
}

async function startPair(): Promise<readonly [P2pMember, P2pMember]> {
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

async function say(from: P2pMember, to: PeerId, text: string) {
  const stream = await from.streams.open(to, PROTOCOL, RULES)
  const heard = collect(stream)
  stream.send(Buffer.from(text))
  stream.end()
  const error = await heard.ended
  return { transport: stream.transport, text: heard.text(), error }
}

/** Until connections are ready, streams may go over libp2p. */
async function untilReady(from: P2pMember, to: PeerId): Promise<void> {
  from.streams.prepare(to)
  await eventually(async () => expect((await say(from, to, 'ready')).transport).toBe('tcp tls'))
}

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

test('a stream goes over TLS from either side, whoever dialled, and each direction ends for itself', async () => {
  const [a, b] = await startPair()
  for (const node of [a, b]) await node.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 10 }, echo)
  const said = { transport: 'tcp tls', error: undefined }
  await untilReady(b, a.self)
  await untilReady(a, b.self)
  expect(await say(b, a.self, 'hello')).toEqual({ ...said, text: 'hello' })
  expect(await say(a, b.self, 'hello back')).toEqual({ ...said, text: 'hello back' })
  for (let at = 0; at < 20; at++) {
    expect(await say(b, a.self, `number ${at}`)).toEqual({ ...said, text: `number ${at}` })
  }
  expect(b.bandwidth.byProtocol().get(PROTOCOL)?.totalIn).toBeGreaterThan(0)
})

test('a stream that one side aborts breaks at the other, and the next one is whole', async () => {
  const [a, b] = await startPair()
  const inbound: ByteStream[] = []
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 10 }, (stream) => {
    inbound.push(stream)
    echo(stream)
  })
  await untilReady(b, a.self)
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const heard = collect(stream)
  stream.send(Buffer.from('x'))
  await eventually(() => expect(heard.text()).toBe('x'))
  inbound.at(-1)?.abort(new Error('enough'))
  expect(await heard.ended).toBeInstanceOf(Error)
  await untilReady(b, a.self)
})

test('bytes that were sent stay as they were: memory that Node.js read into must not be freed by others', async () => {
  const [a, b] = await startPair()
  let received = 0
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 10 }, (stream) => {
    stream.onBytes(({ byteLength }) => (received += byteLength))
    stream.onRemoteEnd(() => stream.end())
  })
  await untilReady(b, a.self)
  received = 0
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const blocks = Array.from({ length: 64 }, () => systemRandom.bytes(65_536))
  for (const block of blocks) stream.send(block)
  const { ended } = collect(stream)
  stream.end()
  expect(await ended).toBe(undefined)
  expect(received).toBe(64 * 65_536)
  expect(blocks.filter(({ byteLength }) => byteLength !== 65_536)).toEqual([])
})

test('a reader that pauses stops the sender, and 64 MiB come whole afterwards', async () => {
  const [a, b] = await startPair()
  let received = 0
  let inbound: ByteStream | undefined
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 10 }, (stream) => {
    inbound = stream
    stream.onBytes((bytes) => {
      received += bytes.byteLength
    })
    stream.onRemoteEnd(() => stream.end())
  })
  await untilReady(b, a.self)
  received = 0
  const stream = await b.streams.open(a.self, PROTOCOL, RULES)
  const { ended } = collect(stream)
  const block = new Uint8Array(65_536)
  let sent = 0
  let isFull = false
  const more = () => {
    isFull = false
    while (sent < 64 * 2 ** 20 && !isFull) {
      sent += block.byteLength
      isFull = !stream.send(block)
    }
    if (!isFull) stream.end()
  }
  stream.send(new Uint8Array(1))
  await eventually(() => expect(received).toBe(1))
  inbound?.pause()
  stream.onDrain(more)
  more()
  // what the sockets' buffers take, and no more
  await eventually(() => expect(isFull).toBe(true))
  expect(sent).toBeLessThan(32 * 2 ** 20)
  inbound?.resume()
  expect(await ended).toBeUndefined()
  expect(received).toBe(64 * 2 ** 20 + 1)
})

test('a protocol beyond its bound is reset, and one that is not served so goes over libp2p', async () => {
  const [a, b] = await startPair()
  await a.streams.handle(PROTOCOL, { ...RULES, maxPerPeer: 1 }, echo)
  await untilReady(b, a.self)
  const first = await b.streams.open(a.self, PROTOCOL, RULES)
  const heard = collect(first)
  first.send(Buffer.from('first'))
  await eventually(() => expect(heard.text()).toBe('first'))
  const second = collect(await b.streams.open(a.self, PROTOCOL, RULES))
  expect(await second.ended).toBeInstanceOf(Error)
  expect(a.refusals()['channel.too_many']).toBe(1)
  first.close()
  await a.streams.handle('/mesh/other/1', { ...RULES, bulk: false, maxPerPeer: 1 }, echo)
  const other = await b.streams.open(a.self, '/mesh/other/1', { ...RULES, bulk: false })
  expect(other.transport).toBeUndefined()
})

test('a node stops while somebody holds connections to it that say nothing', async () => {
  const [a] = await startPair()
  const port = Number(/\/tcp\/(\d+)/.exec(a.addresses()[0] ?? '')?.[1])
  const silent = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  for (const socket of silent) socket.on('error', () => {})
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  await a.stop()
  await eventually(() => expect(silent.every(({ readyState }) => readyState === 'closed')).toBe(true))
})

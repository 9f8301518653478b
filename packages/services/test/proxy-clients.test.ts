/** Clients of the proxy that do not behave, and what others have of it meanwhile. */
import { connect, type Socket } from 'node:net'
import { systemClock } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createProxy, type Proxy } from '../src/index.ts'
import { LOCAL_CONNECTIONS, PROXY_GREETING_MS } from '../src/limits.ts'
import type { ByteStream } from '../src/ports.ts'
import { EGRESS_PROTOCOL } from '../src/protocols.ts'
import { createWorld } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Started {
  readonly proxy: Proxy
  readonly port: number
  /** Streams that the egress node was asked for. */
  readonly asked: ByteStream[]
}

/** A proxy whose egress node does as it is told with each request. */
async function startProxy(serve: (stream: ByteStream) => void, clock = systemClock): Promise<Started> {
  const world = createWorld()
  closers.push(() => world.close())
  const [egress, member] = [await world.member(), await world.member()]
  const asked: ByteStream[] = []
  const options = { from: 'proven', relayed: true, maxPerPeer: 10_000 } as const
  await egress.network.streams.handle(EGRESS_PROTOCOL, options, (stream) => {
    asked.push(stream)
    serve(stream)
  })
  await egress.ledger.put('egress', egress.id, '"ok"').settled
  const proxy = createProxy({ listen: '127.0.0.1:0' }, { ...member.components, clock })
  closers.push(() => proxy.stop())
  await proxy.start()
  return { proxy, port: Number(/:(\d+)$/.exec(proxy.status().listen)?.[1]), asked }
}

const OK = Uint8Array.of(2, 8, 0)
const PAGE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage'
const request = (path: string) => `GET http://origin.test${path} HTTP/1.1\r\nHost: origin.test\r\n\r\n`

/** Says that the tunnel is there; then answers each request, and keeps what came. */
function answer(stream: ByteStream, came: string[] = []): void {
  let isOpen = false
  stream.onBytes((bytes) => {
    if (!isOpen) {
      isOpen = true
      stream.send(OK)
      return
    }
    came.push(Buffer.from(bytes).toString())
    stream.send(Buffer.from(PAGE))
  })
}

async function open(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from })
  socket.on('error', () => {})
  closers.push(() => socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

function read(socket: Socket): () => string {
  let text = ''
  socket.on('data', (bytes: Buffer) => (text += bytes.toString()))
  return () => text
}

test('requests on one connection are answered one after the other, in their order', async () => {
  const came: string[] = []
  const { port } = await startProxy((stream) => answer(stream, came))
  const socket = await open(port)
  const got = read(socket)
  socket.write([1, 2, 3].map((at) => request(`/${at}`)).join(''))
  await eventually(() => expect(got().split('page')).toHaveLength(4))
  expect(came.map((text) => text.slice(0, 6))).toEqual(['GET /1', 'GET /2', 'GET /3'])
})

test('of thousands at once one is asked for, and who sends on without an answer is ended', async () => {
  const { proxy, port, asked } = await startProxy((stream) => void stream.send(OK))
  const socket = await open(port)
  let isClosed = false
  socket.once('close', () => (isClosed = true))
  socket.write(request('/').repeat(20_000))
  await eventually(() => expect(isClosed).toBe(true))
  await eventually(() => expect(proxy.status().openConnections).toBe(0))
  expect(asked.length).toBeLessThan(2)
})

test.each([
  ['HTTP', 'CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test\r\n\r\n'],
  ['SOCKS5', Uint8Array.of(5, 1, 0, 5, 1, 0, 3, 1, 97, 0, 80)],
  ['a page', request('/')],
])('no tunnel is waited for when who asked for it by %s has left', async (_name, bytes) => {
  const { port, asked } = await startProxy(() => {})
  const socket = await open(port)
  socket.write(bytes)
  await eventually(() => expect(asked).toHaveLength(1))
  let isEnded = false
  asked[0]?.onEnd(() => (isEnded = true))
  socket.end()
  await eventually(() => expect(isEnded).toBe(true))
})

test('a head that does not come to its end has its time', async () => {
  const clock = createManualClock(systemClock.now())
  const { proxy, port } = await startProxy(() => {}, clock)
  const socket = await open(port)
  let isClosed = false
  socket.once('close', () => (isClosed = true))
  socket.resume().write('GET http://origin.test/ HTTP/1.1\r\nX-Long: ')
  await eventually(() => expect(proxy.status().openConnections).toBe(1))
  await eventually(async () => {
    socket.write('h')
    await clock.advance(PROXY_GREETING_MS / 4)
    expect(isClosed).toBe(true)
  })
})

test('where one address has all connections it makes way for another', async () => {
  // nobody has to be quick
  const clock = createManualClock(systemClock.now())
  const { proxy, port } = await startProxy((stream) => answer(stream), clock)
  await Promise.all(Array.from({ length: LOCAL_CONNECTIONS.all }, () => open(port, '127.0.0.2')))
  await eventually(() => expect(proxy.status().openConnections).toBe(LOCAL_CONNECTIONS.all))
  const socket = await open(port, '127.0.0.3')
  const got = read(socket)
  socket.write(request('/'))
  await eventually(() => expect(got()).toContain('page'))
})

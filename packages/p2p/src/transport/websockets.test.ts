import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { noise } from '@libp2p/noise'
import { yamux } from '@libp2p/yamux'
import type { Libp2p, MultiaddrConnection, Upgrader } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { silentLogger, systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { createLibp2p } from 'libp2p'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket as WsClient, WebSocketServer } from 'ws'
import { MAX_WEBSOCKET_MESSAGE_BYTES } from './limits.ts'
import { Sockets } from './sockets.ts'
import { webSockets } from './websockets.ts'

/** The code with which a WebSocket is closed whose message is too big. */
const TOO_BIG = 1009

const portOf = (address: Multiaddr | undefined) => Number(/tcp\/(\d+)/.exec(String(address))?.[1])

function createSockets(): Sockets {
  const sockets = new Sockets({ clock: systemClock, logger: silentLogger })
  onTestFinished(() => sockets.stop())
  return sockets
}

async function startHost(listen: string[]): Promise<Libp2p> {
  const host = await createLibp2p({
    addresses: { listen },
    transports: [webSockets(createSockets())],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
  })
  onTestFinished(() => host.stop())
  return host
}

/** A host that listens for WebSockets; gives its port. */
async function listen(): Promise<number> {
  const host = await startHost(['/ip4/127.0.0.1/tcp/0/ws'])
  return portOf(host.getMultiaddrs()[0])
}

test('a WebSocket on which a message is too long is closed before the message is whole', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${await listen()}`)
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code))
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send(new Uint8Array(MAX_WEBSOCKET_MESSAGE_BYTES + 1))
  expect(await closed).toBe(TOO_BIG)
})

/** A WebSocket beneath which bytes can be written that are no frame. */
async function upgraded(): Promise<Socket> {
  const socket = connect({ port: await listen(), host: '127.0.0.1', allowHalfOpen: true })
  const key = Buffer.alloc(16).toString('base64')
  const headers = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
  ]
  socket.write(['GET / HTTP/1.1', 'Host: localhost', ...headers, '', ''].join('\r\n'))
  await new Promise((resolve) => socket.once('data', resolve))
  return socket.resume()
}

test('who goes on sending behind what is no frame is not read any more', async () => {
  const socket = await upgraded()
  // cut off in the middle
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', () => resolve('cut off')))
  socket.write(Buffer.alloc(64, 0xff))
  const more = () => {
    while (socket.writable && socket.write(Buffer.alloc(65_536))) {
      // until the system takes no more
    }
  }
  socket.on('drain', more)
  more()
  expect(await closed).toBe('cut off')
})

test('bytes that are no frame end their WebSocket, and nothing else', async () => {
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtException', note)
  onTestFinished(() => void process.off('uncaughtException', note))
  const socket = await upgraded()
  socket.on('end', () => socket.end()).on('error', () => {})
  socket.write(Buffer.alloc(64, 0xff))
  await new Promise((resolve) => socket.once('close', resolve))
  expect(uncaught).toEqual([])
})

test.each(['accepted', 'dialled'])(
  'a connection that this end %s and breaks off closes its WebSocket',
  async (which) => {
    const [listening, dialling] = await Promise.all([startHost(['/ip4/127.0.0.1/tcp/0/ws']), startHost([])])
    await dialling.dial(listening.getMultiaddrs())
    await eventually(() => expect(listening.getConnections()).toHaveLength(1))
    const [here, there] = which === 'accepted' ? [listening, dialling] : [dialling, listening]
    const [kept] = there.getConnections()
    here.getConnections()[0]?.abort(new Error('broken off'))
    await eventually(() => expect(kept?.status).not.toBe('open'))
  },
)

test('a message that is too long closes a WebSocket that this end dialled', async () => {
  const far = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => far.close())
  await once(far, 'listening')
  const closed = new Promise<number>((resolve) => {
    far.on('connection', (socket) => {
      socket.on('close', resolve)
      socket.send(new Uint8Array(MAX_WEBSOCKET_MESSAGE_BYTES + 1))
    })
  })
  const { port } = far.address() as AddressInfo
  const host = await startHost([])
  await expect(host.dial(multiaddr(`/ip4/127.0.0.1/tcp/${port}/ws`))).rejects.toBeInstanceOf(Error)
  expect(await closed).toBe(TOO_BIG)
})

/** A connection that was accepted, before it is upgraded, and the other end of its WebSocket. */
async function acceptRaw() {
  const accepted = Promise.withResolvers<MultiaddrConnection>()
  const upgrader = {
    upgradeInbound: async (connection: MultiaddrConnection) => accepted.resolve(connection),
  } as unknown as Upgrader
  const transport = webSockets(createSockets())({ logger: defaultLogger() })
  const listener = transport.createListener({ upgrader })
  onTestFinished(() => listener.close())
  await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0/ws'))
  const far = new WsClient(`ws://127.0.0.1:${portOf(listener.getAddrs()[0])}`)
  onTestFinished(() => far.terminate())
  await once(far, 'open')
  return { connection: await accepted.promise, far }
}

test('a connection that is paused is not read', async () => {
  const { connection, far } = await acceptRaw()
  connection.pause()
  let sent = 0
  const block = new Uint8Array(MAX_WEBSOCKET_MESSAGE_BYTES)
  const send = () => far.send(block, () => (sent++ < 400 ? send() : undefined))
  send()
  let before = -1
  const expectStill = () => {
    const seen = before
    before = sent
    expect(sent).toBe(seen)
  }
  await eventually(expectStill, { everyMs: 200 })
  expect(sent).toBeLessThan(400)
  expect(connection.readBufferLength).toBeLessThan(1024 * 1024)
  let bytes = 0
  connection.addEventListener('message', ({ data }) => (bytes += data.byteLength))
  connection.resume()
  await eventually(() => expect(bytes).toBe(401 * block.length))
})

test('what asks for no WebSocket is told so, and ends', async () => {
  const response = await fetch(`http://127.0.0.1:${await listen()}/`)
  expect(response.status).toBe(400)
  expect(response.headers.get('connection')).toBe('close')
})

test('a long message arrives whole, though its writer has to wait', async () => {
  const [listening, dialling] = await Promise.all([startHost(['/ip4/127.0.0.1/tcp/0/ws']), startHost([])])
  const bytes = 8 * 1024 * 1024
  let received = 0
  await listening.handle('/test/1', (stream) => {
    stream.addEventListener('message', ({ data }) => (received += data.byteLength))
  })
  const stream = await dialling.dialProtocol(listening.getMultiaddrs(), '/test/1')
  for (let sent = 0; sent < bytes; sent += 65_536)
    if (!stream.send(new Uint8Array(65_536))) await once(stream, 'drain')
  await eventually(() => expect(received).toBe(bytes))
})

test('a dial over TLS names the host whose certificate it wants', async () => {
  const asked: string[] = []
  const far = createTlsServer({
    SNICallback(name, done) {
      asked.push(name)
      done(new Error('no certificate'))
    },
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void far.close())
  await once(far, 'listening')
  const { port } = far.address() as AddressInfo
  const host = await startHost([])
  const dialling = host.dial(multiaddr(`/dns4/localhost/tcp/${port}/tls/ws`))
  await expect(dialling).rejects.toBeInstanceOf(Error)
  expect(asked).toEqual(['localhost'])
})

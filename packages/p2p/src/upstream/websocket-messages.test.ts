import { connect, type Socket } from 'node:net'
import { webSockets } from '@libp2p/websockets'
import { noise } from '@libp2p/noise'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_WEBSOCKET_MESSAGE_BYTES } from '../limits.ts'
import { boundWebSocketMessages } from './websocket-messages.ts'

/** The code with which a WebSocket is closed whose message is too big. */
const TOO_BIG = 1009

/** A host that listens for WebSockets; gives its port. */
async function listen(): Promise<number> {
  const host = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
    transports: [(components) => boundWebSocketMessages(webSockets()(components))],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
  })
  onTestFinished(() => host.stop())
  return Number(/tcp\/(\d+)/.exec(String(host.getMultiaddrs()[0]))?.[1])
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

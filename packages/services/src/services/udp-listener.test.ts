import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { createSigner } from '@mesh/ledger'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createStreamPair } from '../../test/stream-pair.ts'
import { MAX_WAITING_DATAGRAMS, UDP_SESSIONS } from '../limits.ts'
import { pipeDatagrams } from '../streams/datagrams.ts'
import type { ByteStream } from '../ports.ts'
import type { OpenedService } from './open-service.ts'
import { listenForDatagrams } from './udp-listener.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

test('at all addresses, an answer leaves from the address that was asked', async () => {
  const { near, far } = createStreamPair(peer(1), peer(2))
  const listener = await listenForDatagrams(
    { host: '0.0.0.0', port: 0 },
    {
      open: async () => opened(near),
      opened: new Set(),
      ownAddresses: () => ['127.0.0.1', '127.0.0.91'],
      clock: systemClock,
      onError: () => {},
    },
  )
  closers.push(() => listener.close())
  const echo = pipeDatagrams(far, {
    head: new Uint8Array(),
    traffic: { bytesIn: 0, bytesOut: 0 },
    clock: systemClock,
    onDatagram: (datagram) => echo.send(datagram),
    onDone: () => {},
  })
  const client = createSocket('udp4')
  closers.push(() => client.close())
  const answer = new Promise<string>((resolve) =>
    client.once('message', (datagram) => resolve(`${datagram}`)),
  )
  // a connected socket hears the address that it asked, and no other
  await new Promise<void>((resolve) => client.connect(listener.port ?? 0, '127.0.0.91', resolve))
  client.send('hello')
  expect(await answer).toBe('hello')
})

function opened(stream: ByteStream): OpenedService {
  const { peer } = stream
  const traffic = { bytesIn: 0, bytesOut: 0 }
  return { stream, rest: new Uint8Array(), use: { provider: { peer, service: 'x' }, traffic, close() {} } }
}

/** A listener whose first session is opened when the test says so, and what came through it. */
async function startListener() {
  const { near, far } = createStreamPair(peer(1), peer(2))
  const came: Buffer[] = []
  const gate = Promise.withResolvers<OpenedService>()
  const asked = { count: 0 }
  const listener = await listenForDatagrams(
    { host: '127.0.0.1', port: 0 },
    {
      open() {
        asked.count++
        return asked.count === 1 ? gate.promise : new Promise(() => {})
      },
      opened: new Set(),
      ownAddresses: () => [],
      clock: systemClock,
      onError: () => {},
    },
  )
  const [client, latecomer] = [createSocket('udp4'), createSocket('udp4')]
  closers.push(
    () => listener.close(),
    () => client.close(),
    () => latecomer.close(),
  )
  const sendFrom = (socket: UdpSocket, datagram: Uint8Array) =>
    new Promise((resolve) => socket.send(datagram, listener.port, '127.0.0.1', resolve))
  return {
    port: listener.port,
    came,
    asked,
    send: (datagram: Uint8Array) => sendFrom(client, datagram),
    /** Waits until the listener has read all that was sent, which it does in order: a session of another address shows it. */
    async allRead() {
      await sendFrom(latecomer, Buffer.of(0))
      await eventually(() => expect(asked.count).toBe(2))
    },
    /** Lets the first session stand. */
    open() {
      pipeDatagrams(far, {
        head: new Uint8Array(),
        traffic: { bytesIn: 0, bytesOut: 0 },
        clock: systemClock,
        onDatagram: (datagram) => came.push(Buffer.from(datagram)),
        onDone: () => {},
      })
      gate.resolve(opened(near))
    },
  }
}

const peer = (seed: number) => createSigner(new Uint8Array(32).fill(seed)).peerId

test('what a client sends while its session is being opened comes when that stands', async () => {
  const { came, send, allRead, open } = await startListener()
  const sent = Array.from({ length: 40 }, (_, at) => Buffer.alloc(1_400, at))
  for (const datagram of sent) await send(datagram)
  await allRead()
  open()
  await eventually(() => expect(came).toHaveLength(40))
  expect(Buffer.concat(came).equals(Buffer.concat(sent))).toBe(true)
})

test('so much of it is kept, and no more', async () => {
  const { came, send, allRead, open } = await startListener()
  for (let at = 0; at < 2 * MAX_WAITING_DATAGRAMS; at++) await send(Buffer.of(at))
  await allRead()
  open()
  await send(Buffer.from('the last'))
  await eventually(() => expect(came.at(-1)?.toString()).toBe('the last'))
  expect(came.length).toBeLessThanOrEqual(MAX_WAITING_DATAGRAMS + 1)
})

test('where one address has all sessions it makes way for another', async () => {
  const { port, asked } = await startListener()
  const sendFrom = async (address: string) => {
    const socket = createSocket('udp4')
    closers.push(() => socket.close())
    await new Promise<void>((resolve) => socket.bind(0, address, resolve))
    socket.send('hello', port, '127.0.0.1')
  }
  for (let at = 1; at <= UDP_SESSIONS.all; at++) {
    await sendFrom('127.0.0.2')
    // one after the other, as the system keeps no more than fit
    await eventually(() => expect(asked.count).toBe(at), { everyMs: 0 })
  }
  await sendFrom('127.0.0.2')
  await sendFrom('127.0.0.3')
  await eventually(() => expect(asked.count).toBe(UDP_SESSIONS.all + 1))
})

/** What a local client sends before its service has answered: where it goes, and that it never goes twice. */
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { MAX_EARLY_BYTES } from '../src/limits.ts'
import type { ByteStream } from '../src/ports.ts'
import { SERVICE_PROTOCOL } from '../src/protocols.ts'
import { encodeFrame, readMessage } from '../src/streams/frames.ts'
import { type AnswerCode, encodeAnswer } from '../src/wire/messages.ts'
import { createWorld } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/**
 * A client's port that leads to a provider which does with each stream what the test says; it has served one connection
 * before, unless the test says otherwise.
 */
async function reach(serve: (stream: Provided, count: number) => void, { hasServed = true } = {}) {
  const made = createWorld()
  closers.push(() => made.close())
  const [provider, client] = [await made.member(), await made.member()]
  let count = hasServed ? -1 : 0
  const serveNext = (stream: Provided) => {
    if (++count > 0) return serve(stream, count)
    stream.answer('ok')
    stream.stream.end()
  }
  provider.handlers.set(SERVICE_PROTOCOL, (stream) => {
    void readMessage(stream, { maxBytes: 8192, withinMs: 5_000, clock: provider.components.clock }).then(
      ({ rest }) => serveNext(new Provided(stream, rest)),
    )
  })
  await provider.ledger.put('services', 'echo', JSON.stringify({ PeerID: provider.id, Name: 'echo' })).settled
  const services = await client.services({ connections: [{ name: 'echo', address: '127.0.0.1:0' }] })
  const port = Number(/:(\d+)$/.exec(services.status().connections[0]?.listen ?? '')?.[1])
  const status = () => services.status().connections[0]
  if (hasServed) await buffer(connect({ host: '127.0.0.1', port }))
  await eventually(() => expect(status()?.openConnections).toBe(0))
  return { port, count: () => count, status }
}

/** The provider's end of a stream behind the request. */
class Provided {
  received: Buffer
  readonly stream: ByteStream
  constructor(stream: ByteStream, rest: Uint8Array) {
    this.stream = stream
    this.received = Buffer.from(rest)
    stream.onBytes((bytes) => {
      this.received = Buffer.concat([this.received, bytes])
    })
    stream.resume()
  }

  answer(code: AnswerCode): void {
    this.stream.send(encodeFrame(encodeAnswer(code)))
  }
}

function send(port: number, bytes: Uint8Array) {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  closers.push(() => socket.destroy())
  socket.write(bytes)
  return socket
}

test('it reaches the provider before the provider answers, within a bound, and the rest after it', async () => {
  const streams: Provided[] = []
  const { port, status } = await reach((stream) => streams.push(stream))
  const sent = Buffer.alloc(4 * 2 ** 20, 'abcdefghij')
  send(port, sent).end()
  await eventually(() => expect(streams[0]?.received.byteLength).toBeGreaterThanOrEqual(MAX_EARLY_BYTES))
  expect(streams[0]?.received.byteLength).toBeLessThan(sent.byteLength / 4)
  streams[0]?.answer('ok')
  await eventually(() => expect(streams[0]?.received.equals(sent)).toBe(true))
  expect(status()?.bytesOut).toBe(sent.byteLength)
})

test('a client that has sent and ended before the answer gets its answer', async () => {
  const { port } = await reach((stream) => {
    stream.stream.onRemoteEnd(() => {
      stream.stream.send(stream.received)
      stream.stream.end()
    })
    stream.answer('ok')
  })
  const socket = send(port, Buffer.from('all of it'))
  socket.end()
  expect((await buffer(socket)).toString()).toBe('all of it')
})

test('a request that is refused is made again, with the same bytes', async () => {
  const { port, count } = await reach((stream, at) => {
    if (at < 3) return stream.answer('target_down')
    stream.answer('ok')
    stream.stream.onRemoteEnd(() => {
      stream.stream.send(stream.received)
      stream.stream.end()
    })
  })
  expect((await buffer(send(port, Buffer.from('once')).end())).toString()).toBe('once')
  expect(count()).toBe(3)
})

test('what a provider may have acted on is not sent again when the stream breaks', async () => {
  const { port, count, status } = await reach((stream) => {
    const hasCome = () => expect(stream.received.toString()).toBe('pay')
    void eventually(hasCome).then(() => stream.stream.abort(new Error('gone')))
  })
  const socket = send(port, Buffer.from('pay'))
  await expect(buffer(socket)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect([count(), status()?.openConnections]).toEqual([1, 0])
})

test('the first request goes without it, and is made again when the stream breaks', async () => {
  const serve = (stream: Provided, at: number) => {
    expect(stream.received.toString()).toBe('')
    if (at === 1) return stream.stream.abort(new Error('not known yet'))
    stream.answer('ok')
    stream.stream.onRemoteEnd(() => {
      stream.stream.send(stream.received)
      stream.stream.end()
    })
  }
  const { port, count } = await reach(serve, { hasServed: false })
  expect((await buffer(send(port, Buffer.from('first')).end())).toString()).toBe('first')
  expect(count()).toBe(2)
})

test('a stream that breaks before anything was sent is opened again', async () => {
  const { port, count } = await reach((stream, at) => {
    if (at === 1) return stream.stream.abort(new Error('gone'))
    stream.answer('ok')
    stream.stream.send(Buffer.from('SSH-2.0'))
    stream.stream.end()
  })
  const socket = connect({ host: '127.0.0.1', port })
  expect((await buffer(socket)).toString()).toBe('SSH-2.0')
  expect(count()).toBe(2)
})

test('a client that leaves before the answer leaves nothing behind', async () => {
  const streams: Provided[] = []
  const { port, status } = await reach((stream) => streams.push(stream))
  const socket = send(port, Buffer.from('x'))
  await eventually(() => expect(streams).toHaveLength(1))
  const ended = new Promise((resolve) => streams[0]?.stream.onEnd(resolve))
  socket.resetAndDestroy()
  await ended
  await eventually(() => expect(status()?.openConnections).toBe(0))
})

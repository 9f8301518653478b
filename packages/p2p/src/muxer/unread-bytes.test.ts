import type { Connection, Stream } from '@libp2p/interface'
import { byteStream, multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { Uint8ArrayList } from 'uint8arraylist'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from './index.ts'
import { RELAY_HOP } from '../protocols.ts'
import { boundStreams } from '../upstream/libp2p/bound-streams.ts'

const KIB = 1024

const owner = (unread: Scope, peer = 'far') => ({ peer, address: '192.0.2.1', isTrusted: () => true, unread })

/** Two ends with their muxers; what waits at the near one is bounded. */
function connect(unread: Scope, peer = 'far') {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const far = build().createStreamMuxer(outbound)
  const near = build().createStreamMuxer(inbound)
  near.own(owner(unread, peer))
  const streams: Stream[] = []
  near.addEventListener('stream', ({ detail }) => {
    detail.protocol = '/some/1'
    detail.pause()
    streams.push(detail)
  })
  onTestFinished(() => {
    for (const end of [far, near]) end.abort(new Error('the test is over'))
  })
  return { far, streams, isLost: () => streams.filter(({ status }) => status !== 'open').length }
}

/** A stream of another muxer, which keeps what comes. */
function fakeStream() {
  return {
    protocol: '/some/1',
    direction: 'inbound',
    status: 'open',
    readStatus: 'readable',
    readBufferLength: 0,
    onData(bytes: Uint8Array) {
      this.readBufferLength += bytes.byteLength
    },
    dispatchEvent: () => true,
    removeEventListener() {},
    send: () => true,
    abort() {
      this.status = 'aborted'
    },
  }
}

/** What the muxer does with the data of a frame. */
function giveTo(stream: Stream | undefined, bytes: Uint8Array | Uint8ArrayList): void {
  ;(stream as unknown as { onData(bytes: Uint8Array | Uint8ArrayList): void }).onData(bytes)
}

test('what waits on streams that nobody reads is bounded, and of the peer with the most the largest ends', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const honest = connect(unread, 'honest')
  const patient = await honest.far.createStream()
  patient.send(new Uint8Array(200 * KIB))
  await eventually(() => expect(unread.total).toBe(200 * KIB))
  const { far, isLost } = connect(unread)
  for (let at = 0; at < 8; at++) (await far.createStream()).send(new Uint8Array(200 * KIB))
  await eventually(() => expect(isLost()).toBeGreaterThanOrEqual(4))
  expect(unread.total).toBeLessThanOrEqual(1_024 * KIB)
  expect(honest.isLost()).toBe(0)
  const read: number[] = []
  honest.streams[0]?.addEventListener('message', ({ data }) => void read.push(data.byteLength))
  honest.streams[0]?.resume()
  expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBe(200 * KIB)
})

test('streams of another muxer are bounded too, those that were there before among them', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const early = { ...fakeStream(), readStatus: 'paused', readBufferLength: 600 * KIB }
  const later = fakeStream()
  const muxer = { streams: [early], addEventListener() {}, createStream: async () => later }
  boundStreams({ muxer } as unknown as Connection, owner(unread))
  expect(unread.total).toBe(600 * KIB)
  early.onData(new Uint8Array(600 * KIB))
  expect(early.status).toBe('aborted')
  await muxer.createStream()
  later.onData(new Uint8Array(1_100 * KIB))
  expect(later.status).toBe('aborted')
})

test('a connection without the inner names of the library ends', () => {
  const ends: Error[] = []
  const connection = { abort: (error: Error) => void ends.push(error) }
  boundStreams(connection as unknown as Connection, owner(new Scope({ all: 0 })))
  expect(ends).toEqual([expect.objectContaining({ code: 'p2p.incompatible_library' })])
})

test('frames of one byte count for what they take', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const { far, streams, isLost } = connect(unread)
  await far.createStream()
  await eventually(() => expect(streams).toHaveLength(1))
  for (let came = 0; came < 4_096; came++) giveTo(streams[0], new Uint8Array(1))
  expect(isLost()).toBe(1)
})

test('a stream that is read as fast as it comes goes on', async () => {
  const unread = new Scope({ all: 256 * KIB, evict: 'largest' })
  const { far, streams, isLost } = connect(unread)
  const stream = await far.createStream()
  let read = 0
  for (let round = 0; round < 40; round++) {
    stream.send(new Uint8Array(100 * KIB))
    await eventually(() => expect(streams[0]?.readBufferLength).toBe(100 * KIB))
    if (round === 0) streams[0]?.addEventListener('message', ({ data }) => (read += data.byteLength))
    streams[0]?.resume()
    streams[0]?.pause()
  }
  expect(read).toBe(40 * 100 * KIB)
  expect(isLost()).toBe(0)
})

test('a small part of a long message does not keep all of it', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const { far, streams } = connect(unread)
  await far.createStream()
  await eventually(() => expect(streams).toHaveLength(1))
  const [kept] = streams
  giveTo(kept, new Uint8Array(64 * KIB).subarray(0, 100))
  const blocks: number[] = []
  kept?.addEventListener('message', ({ data }) => void blocks.push(data.subarray().buffer.byteLength))
  kept?.resume()
  expect(blocks).toEqual([100])
})

test('nor does a part of a Buffer, as which it comes where the native cipher decrypts it', async () => {
  const { far, streams } = connect(new Scope({ all: 1_024 * KIB, evict: 'largest' }))
  await far.createStream()
  await eventually(() => expect(streams).toHaveLength(1))
  const [kept] = streams
  const block = Buffer.from(new ArrayBuffer(64 * KIB))
  giveTo(kept, block.subarray(0, 2 * KIB))
  const blocks: number[] = []
  kept?.addEventListener('message', ({ data }) => void blocks.push(data.subarray().buffer.byteLength))
  kept?.resume()
  expect(blocks).toEqual([2 * KIB])
})

test('nor do small parts of several messages, which make up a long piece', async () => {
  const { far, streams } = connect(new Scope({ all: 1_024 * KIB, evict: 'largest' }))
  await far.createStream()
  await eventually(() => expect(streams).toHaveLength(1))
  const [kept] = streams
  const part = () => new Uint8Array(64 * KIB).subarray(0, 10 * KIB)
  giveTo(kept, new Uint8ArrayList(part(), part()))
  const blocks: number[] = []
  const tell = (bytes: Uint8Array) => void blocks.push(bytes.buffer.byteLength)
  kept?.addEventListener('message', ({ data }) => [...(data as Uint8ArrayList)].forEach(tell))
  kept?.resume()
  expect(blocks).toEqual([20 * KIB])
})

test('what waits on a stream that this end opened, and whose protocol came with the first bytes, is bounded, too', async () => {
  const unread = new Scope({ all: 256 * KIB, evict: 'largest' })
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const [far, near] = [build().createStreamMuxer(inbound), build().createStreamMuxer(outbound)]
  onTestFinished(() => {
    for (const end of [far, near]) end.abort(new Error('the test is over'))
  })
  near.own(owner(unread))
  far.addEventListener('stream', ({ detail }) => {
    detail.addEventListener('message', ({ data }) => {
      // the protocol's name is its answer, too
      detail.send(data)
      detail.send(new Uint8Array(100 * KIB))
    })
  })
  const stream = await near.createStream({ protocol: '/lazy/1', negotiateFully: false } as never)
  stream.pause()
  stream.send(new Uint8Array(0))
  await eventually(() => expect(unread.total).toBe(100 * KIB))
  giveTo(stream, new Uint8Array(200 * KIB))
  expect(stream.status).toBe('aborted')
})

/** A stream whose protocol the library reads by `byteStream`, which takes all that comes. */
function readByLibrary(peer: string, unread: Scope) {
  const { far, streams } = connect(unread, peer)
  const open = async () => {
    const at = streams.length
    const stream = await far.createStream()
    stream.send(new Uint8Array(1))
    const near = await eventually(() => {
      const opened = streams[at]
      if (opened === undefined) throw new Error('no stream yet')
      return opened
    })
    near.protocol = ''
    const negotiation = byteStream(near)
    near.resume()
    await negotiation.read({ bytes: 1 })
    negotiation.unwrap()
    near.protocol = RELAY_HOP
    return { far: stream, near, reader: byteStream(near) }
  }
  return { open }
}

test('what a reader of the library holds unasked counts, until an answer goes out or the reader leaves', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const { far, near, reader } = await readByLibrary('far', unread).open()
  far.send(new Uint8Array(100 * KIB))
  await eventually(() => expect(unread.total).toBe(100 * KIB))
  near.send(new Uint8Array(1))
  far.send(new Uint8Array(50 * KIB))
  await eventually(() => expect(unread.total).toBe(50 * KIB))
  reader.unwrap()
  near.pause()
  far.send(new Uint8Array(10 * KIB))
  await eventually(() => expect(near.readBufferLength).toBe(160 * KIB))
  expect(unread.total).toBe(160 * KIB)
})

test('of streams that are filled behind a question the largest of the peer with the most ends', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const honest = await readByLibrary('honest', unread).open()
  honest.far.send(new Uint8Array(20 * KIB))
  const { open } = readByLibrary('far', unread)
  const filled = [await open(), await open(), await open(), await open()]
  for (const { far } of filled) far.send(new Uint8Array(2_048 * KIB))
  await eventually(() =>
    expect(filled.filter(({ near }) => near.status === 'aborted').length).toBeGreaterThan(0),
  )
  expect(unread.total).toBeLessThanOrEqual(1_024 * KIB)
  expect(honest.near.status).toBe('open')
})

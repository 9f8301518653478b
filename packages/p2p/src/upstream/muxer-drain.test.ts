import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from '../libp2p/muxer.ts'
import { drainOneByOne } from './muxer-drain.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** A muxer with streams of which so many fill its connection. */
function create(count: number, full: number) {
  const made = { maConn: { writableNeedsDrain: false } }
  const told: number[] = []
  const watch = drainOneByOne(made)
  const streams = Array.from({ length: count }, (_, at) => {
    const stream = {
      onMuxerDrain: () =>
        queueMicrotask(() => {
          told.push(at)
          made.maConn.writableNeedsDrain ||= told.length % full === 0
        }),
    }
    watch(stream)
    return stream
  })
  const drain = async () => {
    made.maConn.writableNeedsDrain = false
    for (const stream of streams) stream.onMuxerDrain()
    await nextTurn()
  }
  return { told, drain }
}

test('streams go on until their connection is full, and in the same order when it has room again', async () => {
  const { told, drain } = create(10, 3)
  await drain()
  expect(told).toEqual([0, 1, 2])
  await drain()
  expect(told).toEqual([0, 1, 2, 0, 1, 2])
})

test('where the connection has room all of them go on', async () => {
  const { told, drain } = create(10, 100)
  await drain()
  expect(told).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('what waits on many streams of a slow connection arrives whole', async () => {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 1, maxBufferSize: 64 * 1024 } as never)
  const build = muxer(systemClock)
  const near = build().createStreamMuxer(outbound)
  const far = build().createStreamMuxer(inbound)
  onTestFinished(() => {
    for (const end of [near, far]) end.abort(new Error('the test is over'))
  })
  const got = new Map<string, number>()
  far.addEventListener('stream', ({ detail: stream }) => {
    stream.addEventListener('message', ({ data }) =>
      got.set(stream.id, (got.get(stream.id) ?? 0) + data.byteLength),
    )
  })
  const streams = await Promise.all(Array.from({ length: 40 }, () => near.createStream()))
  for (const stream of streams) stream.send(new Uint8Array(200 * 1024))
  await eventually(() => expect([...got.values()]).toEqual(Array(40).fill(200 * 1024)), { withinMs: 15_000 })
}, 20_000)

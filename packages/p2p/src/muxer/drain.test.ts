import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from './index.ts'

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

test('streams that wait go on in turn, as many as the connection has room for', async () => {
  const [outbound] = multiaddrConnectionPair({ capacity: 1_000 })
  const near = muxer(systemClock)().createStreamMuxer(outbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const order: string[] = []
  const streams = await Promise.all(Array.from({ length: 4 }, () => near.createStream()))
  await eventually(() => expect(outbound.writableNeedsDrain).toBe(false))
  outbound.writableNeedsDrain = true
  for (const stream of streams) {
    stream.send(new Uint8Array(1_000))
    stream.addEventListener('drain', () => {
      order.push(stream.id)
      outbound.writableNeedsDrain = order.length % 2 === 0
      stream.send(new Uint8Array(1_000))
    })
  }
  const drain = () => {
    outbound.writableNeedsDrain = false
    outbound.dispatchEvent(new Event('drain'))
  }
  drain()
  expect(order).toEqual(['1', '3'])
  drain()
  expect(order).toEqual(['1', '3', '5', '7'])
})

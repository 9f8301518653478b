import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { YAMUX, yamuxHead } from '@mesh/testkit'
import { muxer } from './index.ts'

const { SYN, FIN } = YAMUX
/** The window that a stream begins with, which yamux fixes. */
const FIRST_WINDOW_BYTES = 256 * 1024

const head = (flags: number, stream: number, length: number) =>
  yamuxHead({ type: YAMUX.DATA, flags, stream, length })

/** A muxer, what came on its streams, and the other end of its connection, which says what it likes. */
function createEnd({ isRead = true } = {}) {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(systemClock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const got: Uint8Array[] = []
  const ends: string[] = []
  near.addEventListener('stream', ({ detail: stream }) => {
    if (!isRead) stream.pause()
    stream.addEventListener('message', ({ data }) => void got.push(data.subarray()))
    stream.addEventListener('end', () => ends.push(`after ${Buffer.concat(got).length}`))
  })
  return { far, inbound, got: () => Buffer.concat(got), ends }
}

test('the data of a frame is handed on as it comes', async () => {
  const { far, got } = createEnd()
  const [first, second] = [Buffer.alloc(1_000, 'a'), Buffer.alloc(500, 'b')]
  far.send(Buffer.concat([head(SYN, 1, 200_000), first]))
  await eventually(() => expect(got().equals(first)).toBe(true))
  far.send(second)
  await eventually(() => expect(got().equals(Buffer.concat([first, second]))).toBe(true))
})

test('a frame that goes on beyond the window of its stream ends the connection', async () => {
  const { far, inbound } = createEnd({ isRead: false })
  far.send(head(SYN, 1, 2 ** 31))
  far.send(new Uint8Array(FIRST_WINDOW_BYTES))
  await eventually(() => expect(far.writeBufferLength).toBe(0))
  expect(inbound.status).toBe('open')
  far.send(Uint8Array.of(1))
  await eventually(() => expect(inbound.status).not.toBe('open'))
})

test('frames that come in parts are put together as they were, and end their stream after the last byte', async () => {
  const { far, got, ends } = createEnd()
  const frames = Array.from({ length: 50 }, (_, at) => {
    const data = Buffer.alloc(at * 7, at)
    const flags = (at === 0 ? SYN : 0) | (at === 49 ? FIN : 0)
    return { data, bytes: Buffer.concat([head(flags, 1, data.length), data]) }
  })
  const all = Buffer.concat(frames.map(({ bytes }) => bytes))
  for (let at = 0; at < all.length; at += 31) far.send(all.subarray(at, at + 31))
  const whole = Buffer.concat(frames.map(({ data }) => data))
  await eventually(() => expect(ends).toEqual([`after ${whole.length}`]))
  expect(got().equals(whole)).toBe(true)
})

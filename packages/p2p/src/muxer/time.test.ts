import { multiaddrConnectionPair } from '@libp2p/utils'
import { eventually } from '@mesh/testkit'
import type { Clock } from '@mesh/core'
import { expect, onTestFinished, test } from 'vitest'
import { YAMUX, yamuxHead } from '@mesh/testkit'
import { muxer } from './index.ts'
import { TURN_MS } from '@mesh/core/limits'
import { MAX_BYTES_AFTER_END } from './limits.ts'

const { WINDOW_UPDATE, DATA, SYN, RST } = YAMUX
const STREAMS = 2_000

function frame(type: number, flags: number, stream: number, data = Buffer.alloc(0)): Uint8Array {
  return Buffer.concat([yamuxHead({ type, flags, stream, length: data.length }), data])
}

/** A muxer whose streams take a tenth of a turn each, and the most that it took of one turn. */
function createEnd() {
  let now = 0
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const after = (ms: number, work: () => void) => {
    if (ms === 0) setImmediate(work)
    return () => {}
  }
  const clock = { monotonic: () => now, now: () => now, after } as unknown as Clock
  const near = muxer(clock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const seen = { streams: 0, inTurn: 0, most: 0, text: '' }
  const beginTurn = () => {
    seen.inTurn = 0
  }
  near.addEventListener('stream', ({ detail: stream }) => {
    seen.streams++
    seen.most = Math.max(seen.most, ++seen.inTurn)
    now += TURN_MS / 20
    if (seen.inTurn === 1) setImmediate(beginTurn)
    stream.addEventListener('message', ({ data }) => (seen.text += Buffer.from(data.subarray()).toString()))
  })
  return { far, inbound, near, seen }
}

const shortStreams = () =>
  Buffer.concat(Array.from({ length: STREAMS }, (_, at) => frame(WINDOW_UPDATE, SYN | RST, 2 * at + 1)))

test('what one block of bytes holds is handled in many turns, and nothing of it is lost', async () => {
  const { far, near, seen } = createEnd()
  far.send(shortStreams())
  await eventually(() => expect(seen.streams).toBe(STREAMS))
  // two turns at most, as the one of this test begins elsewhere
  expect(seen.most).toBeLessThan(STREAMS / 40)
  expect(near.status).toBe('open')
})

test('what comes while a connection waits follows in its order, and its end comes last', async () => {
  const { far, near, seen } = createEnd()
  far.send(shortStreams())
  far.send(frame(DATA, SYN, 2 * STREAMS + 1, Buffer.from('said ')))
  far.send(frame(DATA, 0, 2 * STREAMS + 1, Buffer.from('before the end')))
  await eventually(() => expect(seen.streams).toBeGreaterThan(0))
  expect(seen.streams).toBeLessThan(STREAMS)
  await far.close()
  await eventually(() => expect(near.status).toBe('closed'))
  expect([seen.streams, seen.text]).toEqual([STREAMS + 1, 'said before the end'])
})

test('what comes behind the end of a muxer is not kept, and the connection of much ends', async () => {
  const { far, inbound, near } = createEnd()
  await near.close()
  expect(near.status).toBe('closed')
  const block = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < MAX_BYTES_AFTER_END; sent += block.length) far.send(block)
  await eventually(() => expect(far.writeBufferLength).toBe(0))
  expect(inbound.status).toBe('open')
  far.send(block)
  await eventually(() => expect(inbound.status).not.toBe('open'))
})

test('a connection whose frames wait is not read, also where what waited was read as it went on', async () => {
  const { far, inbound, seen } = createEnd()
  const transport = inbound as unknown as {
    readonly readStatus: string
    sendPause(): void
    sendResume(): void
  }
  let isRead = true
  transport.sendPause = () => (isRead = false)
  transport.sendResume = () => (isRead = true)
  let [paused, pausedAndRead] = [0, 0]
  far.send(shortStreams())
  far.send(shortStreams())
  for (let turn = 0; turn < 10_000 && seen.streams < 2 * STREAMS; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (transport.readStatus !== 'paused') continue
    paused++
    if (isRead) pausedAndRead++
  }
  expect(seen.streams).toBe(2 * STREAMS)
  expect(paused).toBeGreaterThan(STREAMS / 20)
  expect(pausedAndRead).toBe(0)
})

test('a frame that cannot be handled ends the connection later as it does at once', async () => {
  const { far, inbound, seen } = createEnd()
  far.send(shortStreams())
  far.send(Buffer.alloc(12, 9))
  await eventually(() => expect(inbound.status).not.toBe('open'))
  expect(seen.streams).toBe(STREAMS)
})

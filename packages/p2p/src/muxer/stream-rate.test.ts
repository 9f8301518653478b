import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { Scope, type ScopeLimits } from '@mesh/core/limits'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from './index.ts'
import { MAX_REFUSED_STREAMS, UNPROVEN_STREAM_RATE } from './limits.ts'

const { burst, perSecond } = UNPROVEN_STREAM_RATE

/** Two ends with their muxers; the near one bounds what the far one opens. */
function connect(isTrusted: () => boolean, limits: ScopeLimits = { all: 0 }) {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const clock = createManualClock()
  const far = muxer(systemClock)().createStreamMuxer(outbound)
  const near = muxer(clock)().createStreamMuxer(inbound)
  const seen = { streams: 0, connection: inbound }
  near.addEventListener('stream', () => seen.streams++)
  const unread = new Scope(limits)
  near.own({ peer: 'far', address: '192.0.2.1', isTrusted, unread })
  onTestFinished(() => {
    for (const end of [far, near]) end.abort(new Error('the test is over'))
  })
  const open = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const stream = await far.createStream()
      stream.abort(new Error('closed at once'))
    }
  }
  return { open, seen, clock, far, unread }
}

test('streams beyond the burst are refused until time has passed', async () => {
  const { open, seen, clock } = connect(() => false)
  await open(burst + 50)
  await eventually(() => expect(seen.streams).toBe(burst))
  await clock.advance(1_000)
  await open(50)
  await eventually(() => expect(seen.streams).toBe(burst + perSecond))
  expect(seen.connection.status).toBe('open')
})

test('who goes on loses the connection', async () => {
  const { open, seen } = connect(() => false)
  await open(burst + MAX_REFUSED_STREAMS + 1)
  await eventually(() => expect(seen.connection.status).toBe('aborted'))
})

test('what waits on the streams of strangers has a bound of its own', async () => {
  const KIB = 1_024
  let isMember = false
  const { far, unread } = connect(() => isMember, { all: 1_024 * KIB, unproven: 500 * KIB, evict: 'largest' })
  const fill = async () => (await far.createStream()).send(new Uint8Array(200 * KIB))
  for (let at = 0; at < 4; at++) await fill()
  // a short piece counts for more than its bytes
  const waiting = () => Math.round(unread.total / (10 * KIB)) * 10
  await eventually(() => expect(waiting()).toBe(400))
  isMember = true
  for (let at = 0; at < 2; at++) await fill()
  await eventually(() => expect(waiting()).toBe(800))
})

test('a member opens as many as it likes', async () => {
  const { open, seen } = connect(() => true)
  await open(burst + 50)
  await eventually(() => expect(seen.streams).toBe(burst + 50))
})

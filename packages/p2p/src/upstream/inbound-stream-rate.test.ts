import type { Connection } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from '../libp2p/muxer.ts'
import { MAX_REFUSED_STREAMS, UNPROVEN_STREAMS_BURST, UNPROVEN_STREAMS_PER_S } from '../limits.ts'
import { boundInboundStreams } from './inbound-stream-rate.ts'

/** Two ends with their muxers; the near one bounds what the far one opens. */
function connect(isTrusted: () => boolean) {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer()
  const far = build().createStreamMuxer(outbound)
  const near = build().createStreamMuxer(inbound)
  const clock = createManualClock()
  const seen = { streams: 0, aborted: false }
  near.addEventListener('stream', () => seen.streams++)
  const abort = () => {
    seen.aborted = true
  }
  boundInboundStreams({ muxer: near, abort } as unknown as Connection, { isTrusted, clock })
  onTestFinished(async () => {
    await Promise.all([far.close(), near.close()])
  })
  const open = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const stream = await far.createStream()
      stream.abort(new Error('closed at once'))
    }
  }
  return { open, seen, clock }
}

test('streams beyond the burst are refused until time has passed', async () => {
  const { open, seen, clock } = connect(() => false)
  await open(UNPROVEN_STREAMS_BURST + 50)
  await eventually(() => expect(seen.streams).toBe(UNPROVEN_STREAMS_BURST))
  await clock.advance(1_000)
  await open(50)
  await eventually(() => expect(seen.streams).toBe(UNPROVEN_STREAMS_BURST + UNPROVEN_STREAMS_PER_S))
  expect(seen.aborted).toBe(false)
})

test('who goes on loses the connection', async () => {
  const { open, seen } = connect(() => false)
  await open(UNPROVEN_STREAMS_BURST + MAX_REFUSED_STREAMS + 1)
  await eventually(() => expect(seen.aborted).toBe(true))
})

test('whoever is trusted opens as many as it likes', async () => {
  const { open, seen } = connect(() => true)
  await open(UNPROVEN_STREAMS_BURST + 50)
  await eventually(() => expect(seen.streams).toBe(UNPROVEN_STREAMS_BURST + 50))
})

import type { Connection } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { multiaddr } from '@multiformats/multiaddr'
import { HeldBytes } from '../libp2p/held-bytes.ts'
import { muxer } from '../libp2p/muxer.ts'
import { MAX_REFUSED_STREAMS, UNPROVEN_STREAMS_BURST, UNPROVEN_STREAMS_PER_S } from './limits.ts'
import { boundInboundStreams } from './inbound-stream-rate.ts'

/** Two ends with their muxers; the near one bounds what the far one opens. */
function connect(isTrusted: () => boolean) {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const far = build().createStreamMuxer(outbound)
  const near = build().createStreamMuxer(inbound)
  const clock = createManualClock()
  const seen = { streams: 0, aborted: false }
  near.addEventListener('stream', () => seen.streams++)
  const abort = () => {
    seen.aborted = true
  }
  const connection = { muxer: near, abort, remotePeer: 'far', remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') }
  const held = new HeldBytes({ isMember: isTrusted, maxFrameBytes: 0, clock })
  const bounds = { isTrusted, isCounted: () => false, held, clock }
  boundInboundStreams(connection as unknown as Connection, bounds)
  onTestFinished(async () => {
    await Promise.all([far.close(), near.close()])
  })
  const open = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const stream = await far.createStream()
      stream.abort(new Error('closed at once'))
    }
  }
  return { open, seen, clock, far, held }
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

test('what a stranger brings on streams that nobody reads is bounded, and its streams end in time', async () => {
  let isMember = false
  const { far, held, clock } = connect(() => isMember)
  const fill = async () => {
    const stream = await far.createStream()
    stream.send(new Uint8Array(200 * 1024))
    return stream
  }
  const streams = await Promise.all(Array.from({ length: 4 }, fill))
  await eventually(() => expect(held.bytes).toBe(4 * 200 * 1024))
  await clock.advance(60_000)
  await eventually(() => expect(streams.map(({ status }) => status)).toEqual(Array(4).fill('reset')))
  expect(held.bytes).toBe(0)
  const kept = await fill()
  await eventually(() => expect(held.bytes).toBe(200 * 1024))
  isMember = true
  await clock.advance(60_000)
  expect([held.bytes, kept.status]).toEqual([0, 'open'])
})

test('whoever is trusted opens as many as it likes', async () => {
  const { open, seen } = connect(() => true)
  await open(UNPROVEN_STREAMS_BURST + 50)
  await eventually(() => expect(seen.streams).toBe(UNPROVEN_STREAMS_BURST + 50))
})

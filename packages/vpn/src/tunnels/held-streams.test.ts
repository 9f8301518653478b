import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { peerOf } from '../testing/memory-machine.ts'
import { createStreamPair } from '../testing/memory-stream.ts'
import { HeldStreams } from './held-streams.ts'
import { MAX_HELD_STREAMS, MAX_HELD_STREAMS_OF_ADDRESS, STREAM_HELD_MS } from './limits.ts'

const SELF = peerOf(1)

const streamOf = (peer: PeerId) => createStreamPair({ near: peer, far: SELF }, true).far

test('streams that came early are kept in few places, of which one address has half', async () => {
  const clock = createManualClock()
  const hostile = Array.from({ length: MAX_HELD_STREAMS }, (_, at) => peerOf(100 + at))
  const others = Array.from({ length: MAX_HELD_STREAMS }, (_, at) => peerOf(300 + at))
  const refused: PeerId[] = []
  const held = new HeldStreams({
    clock,
    addressOf: (peer) => (hostile.includes(peer) ? '192.0.2.7' : undefined),
    onRefused: ({ peer }) => void refused.push(peer),
  })
  for (const peer of hostile) held.hold(streamOf(peer))
  expect(held.peers()).toEqual(hostile.slice(0, MAX_HELD_STREAMS_OF_ADDRESS))
  for (const peer of others) held.hold(streamOf(peer))
  expect(held.peers()).toHaveLength(MAX_HELD_STREAMS)
  expect(refused.filter((peer) => hostile.includes(peer))).toHaveLength(
    MAX_HELD_STREAMS - MAX_HELD_STREAMS_OF_ADDRESS,
  )
  // a place that is free again is one of its address, too
  await clock.advance(STREAM_HELD_MS)
  expect(held.peers()).toEqual([])
  held.hold(streamOf(peerOf(100)))
  expect(held.peers()).toEqual([peerOf(100)])
  held.release(peerOf(100))
  expect(clock.pending).toBe(0)
})

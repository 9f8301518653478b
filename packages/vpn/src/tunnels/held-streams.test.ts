import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { peerOf } from '../testing/memory-machine.ts'
import { createStreamPair } from '../testing/memory-stream.ts'
import { HeldStreams } from './held-streams.ts'
import { HELD_STREAMS, STREAM_HELD_MS } from './limits.ts'

const { all: MAX_HELD_STREAMS, perAddress: MAX_HELD_STREAMS_OF_ADDRESS } = HELD_STREAMS

const SELF = peerOf(1)

const streamOf = (peer: PeerId) => createStreamPair({ near: peer, far: SELF }, true).far

test('streams that came early are kept in few places, of which one address has half at most', async () => {
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
  // the address with the most loses its places to others
  expect(held.peers().filter((peer) => hostile.includes(peer))).toHaveLength(1)
  expect(refused).toHaveLength(MAX_HELD_STREAMS)
  // a place that is free again is one of its address, too
  await clock.advance(STREAM_HELD_MS)
  expect(held.peers()).toEqual([])
  held.hold(streamOf(peerOf(100)))
  expect(held.peers()).toEqual([peerOf(100)])
  held.release(peerOf(100))
  expect(clock.pending).toBe(0)
})

test('where two addresses have all places, one of theirs makes way for a stream from another', () => {
  const hostile = Array.from({ length: MAX_HELD_STREAMS }, (_, at) => peerOf(100 + at))
  const honest = peerOf(7)
  const refused: PeerId[] = []
  const held = new HeldStreams({
    clock: createManualClock(),
    addressOf: (peer) => (peer === honest ? '198.51.100.1' : `192.0.2.${hostile.indexOf(peer) % 2}`),
    onRefused: ({ peer }) => void refused.push(peer),
  })
  for (const peer of hostile) held.hold(streamOf(peer))
  expect(refused).toEqual([])
  held.hold(streamOf(honest))
  expect(held.peers()).toContain(honest)
  expect(held.peers()).toHaveLength(MAX_HELD_STREAMS)
  expect(refused).toHaveLength(1)
  expect(hostile).toContain(refused[0])
})

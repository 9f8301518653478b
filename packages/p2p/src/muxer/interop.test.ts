import type { Stream, StreamMuxer } from '@libp2p/interface'
import { yamux } from '@libp2p/yamux'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from './index.ts'

const [ours, theirs] = [() => muxer(systemClock)(), () => yamux()()]
const STREAMS = 20
const BYTES = 1_000_000

/** Sends back what comes on each stream, and ends it with the other side. */
function echo(muxerOf: StreamMuxer): void {
  muxerOf.addEventListener('stream', ({ detail: stream }) => {
    stream.addEventListener('message', ({ data }) => void stream.send(data))
    stream.addEventListener('remoteCloseWrite', () => void stream.close())
  })
}

async function readAll(stream: Stream): Promise<Buffer> {
  const parts: Uint8Array[] = []
  stream.addEventListener('message', ({ data }) => void parts.push(data.subarray()))
  await eventually(() => expect(stream.remoteWriteStatus).toBe('closed'), { withinMs: 10_000 })
  return Buffer.concat(parts)
}

test.each([
  ['@libp2p/yamux', ours, theirs],
  ['a dialler of @libp2p/yamux', theirs, ours],
])(
  'speaks with %s: many streams carry more than a window, and end',
  async (_, near, far) => {
    const [outbound, inbound] = multiaddrConnectionPair({ capacity: 1_000 })
    const dialler: StreamMuxer = near().createStreamMuxer(outbound)
    const listener: StreamMuxer = far().createStreamMuxer(inbound)
    onTestFinished(() => {
      for (const end of [dialler, listener]) end.abort(new Error('the test is over'))
    })
    echo(listener)
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => dialler.createStream()))
    const answers = streams.map(async (stream, at) => {
      stream.send(Buffer.alloc(BYTES, at))
      const read = readAll(stream)
      await stream.close()
      return await read
    })
    for (const [at, answer] of (await Promise.all(answers)).entries())
      expect(answer.equals(Buffer.alloc(BYTES, at))).toBe(true)
    expect([dialler.streams.length, listener.streams.length]).toEqual([0, 0])
  },
  30_000,
)

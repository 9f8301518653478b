import type { Stream } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from '../muxer/index.ts'
import { ByteReader } from './byte-reader.ts'

const KIB = 1024

/** Both ends of a stream, and the reader of the near one. */
async function open(unread: Scope) {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const opening = build().createStreamMuxer(outbound)
  const accepting = build().createStreamMuxer(inbound)
  onTestFinished(() => {
    for (const end of [opening, accepting]) end.abort(new Error('the test is over'))
  })
  const accepted = new Promise<Stream>((resolve) => {
    accepting.addEventListener('stream', ({ detail }) => resolve(detail), { once: true })
  })
  const far = await opening.createStream()
  const near = await accepted
  const reader = new ByteReader(near, { peer: 'far', address: '192.0.2.1', unread })
  return { far, near, reader }
}

test('what was handed out at once, and not taken, counts as unread', async () => {
  const unread = new Scope({ all: 1_024 * KIB, evict: 'largest' })
  const { far, near, reader } = await open(unread)
  for (let sent = 0; sent < 4; sent++) far.send(new Uint8Array(50 * KIB))
  await eventually(() => expect(near.readBufferLength).toBe(200 * KIB))
  let taken = 0
  reader.onBytes((bytes) => {
    taken += bytes.byteLength
    reader.setPaused(true)
  })
  await eventually(() => expect(taken).toBeGreaterThan(0))
  expect(taken).toBeLessThan(200 * KIB)
  expect(unread.total).toBe(200 * KIB - taken)
})

test('a reader whose bytes are too many in all is told so', async () => {
  const unread = new Scope({ all: 100 * KIB, evict: 'largest' })
  const { far, near, reader } = await open(unread)
  let reason: Error | undefined
  reader.onSurplus = (why) => {
    reason = why
  }
  for (let sent = 0; sent < 4; sent++) far.send(new Uint8Array(50 * KIB))
  await eventually(() => expect(near.readBufferLength).toBe(200 * KIB))
  reader.onBytes(() => reader.setPaused(true))
  await eventually(() => expect(reason).toBeInstanceOf(Error))
})

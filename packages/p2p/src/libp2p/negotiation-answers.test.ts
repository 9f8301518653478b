import type { MultiaddrConnection, Stream } from '@libp2p/interface'
import { lpStream, multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { MAX_NEGOTIATION_ANSWERS } from '../limits.ts'
import { muxer } from '../muxer/index.ts'
import { boundAnswers } from './negotiation-answers.ts'

const line = (text: string) => Uint8Array.from([text.length + 1, ...Buffer.from(`${text}\n`)])
const lines = (...texts: readonly string[]) => Buffer.concat(texts.map(line))

/** Answers each line. Rejects when the connection ends. */
async function negotiate(side: MultiaddrConnection | Stream): Promise<void> {
  const stream = lpStream(side)
  for (;;) {
    const asked = Buffer.from((await stream.read()).subarray()).toString()
    await stream.write(Buffer.from(asked === '/b\n' ? asked : 'na\n'))
    if (asked === '/b\n') return
  }
}

/** A side that answers as the library does until it is asked for `/b`, and how often it did. */
function answerer() {
  const [asking, answering] = multiaddrConnectionPair({ delay: 0 })
  let agreed = false
  let answers = 0
  const send = answering.send.bind(answering)
  answering.send = (bytes) => {
    answers++
    return send(bytes)
  }
  boundAnswers(answering, () => agreed)
  const outcome = negotiate(answering).then(
    () => (agreed = true),
    () => false,
  )
  return { asking, answering, outcome, count: () => answers }
}

test('who asks again and again what may be spoken loses the connection, after so many answers', async () => {
  const { asking, answering, outcome, count } = answerer()
  asking.send(lines('/multistream/1.0.0', ...Array<string>(1_000).fill('ls')))
  await eventually(() => expect(answering.status).toBe('aborted'))
  expect([await outcome, count()]).toEqual([false, MAX_NEGOTIATION_ANSWERS])
})

test('who asks for a few protocols gets the one that is spoken, and as many answers as it likes after that', async () => {
  const { asking, answering, outcome, count } = answerer()
  asking.send(lines('/multistream/1.0.0', '/a', '/c', '/b'))
  expect([await outcome, count()]).toEqual([true, 4])
  for (let at = 0; at < 2 * MAX_NEGOTIATION_ANSWERS; at++) answering.send(Uint8Array.of(1))
  expect(answering.status).toBe('open')
})

test('so it is on each stream that comes in', async () => {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const far = build().createStreamMuxer(outbound)
  const near = build().createStreamMuxer(inbound)
  near.own({ peer: 'far', address: '192.0.2.1', isTrusted: () => true, unread: new Scope({ all: 1e6 }) })
  onTestFinished(() => near.abort(new Error('the test is over')))
  const came = new Promise<Stream>((resolve) => {
    near.addEventListener('stream', ({ detail }) => resolve(detail), { once: true })
  })
  const asking = await far.createStream()
  asking.send(lines('/multistream/1.0.0', ...Array<string>(1_000).fill('ls')))
  const stream = await came
  await negotiate(stream).catch(() => {})
  expect([stream.status, near.status]).toEqual(['aborted', 'open'])
})

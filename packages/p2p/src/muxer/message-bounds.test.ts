import { multiaddrConnectionPair } from '@libp2p/utils'
import type { Stream } from '@libp2p/interface'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { writer } from 'protons-runtime'
import { expect, onTestFinished, test } from 'vitest'
import { encodePrefix } from '../length-prefix.ts'
import { MAX_PEER_ID_BYTES } from '../limits.ts'
import { muxer } from './index.ts'
import {
  MAX_DHT_ANSWER_BYTES,
  MAX_DHT_QUESTION_BYTES,
  MAX_IDENTIFY_BYTES,
  MAX_RELAY_MESSAGE_BYTES,
} from './limits.ts'
import { PRIVATE_DHT_PROTOCOL, RELAY_HOP } from '../protocols.ts'

/** Both ends of a stream that speaks a protocol, and what the near one read; `asker` opened it. */
async function createStream(protocol: string, asker: 'far' | 'near' = 'far') {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const opening = build().createStreamMuxer(outbound)
  const accepting = build().createStreamMuxer(inbound)
  onTestFinished(() => {
    opening.abort(new Error('the test is over'))
    accepting.abort(new Error('the test is over'))
  })
  const accepted = new Promise<Stream>((resolve) => {
    accepting.addEventListener('stream', ({ detail }) => resolve(detail), { once: true })
  })
  const opened = await opening.createStream()
  const [near, far] = asker === 'far' ? [await accepted, opened] : [opened, await accepted]
  near.protocol = protocol
  far.protocol = protocol
  const read: Uint8Array[] = []
  near.addEventListener('message', ({ data }) => void read.push(data.subarray()))
  return { near, far, read: () => Buffer.concat(read) }
}

const framed = (message: Uint8Array) => Buffer.concat([encodePrefix(message.length), message])
const tag = (field: number) => (field << 3) | 2
const field = (number: number, bytes: Uint8Array) => writer().uint32(tag(number)).bytes(bytes).finish()
/** A message of so many bytes, in a field that nobody knows. */
const long = (bytes: number) => framed(field(15, new Uint8Array(bytes - 4)))

test.each([
  [RELAY_HOP, MAX_RELAY_MESSAGE_BYTES],
  [PRIVATE_DHT_PROTOCOL, MAX_DHT_QUESTION_BYTES],
  ['/ipfs/id/push/1.0.0', MAX_IDENTIFY_BYTES],
])('a message of %s is read while it is short, and else ends its stream unread', async (protocol, most) => {
  const good = await createStream(protocol)
  const message = long(most - 16)
  good.far.send(message)
  await eventually(() => expect(good.read().equals(message)).toBe(true))
  const { near, far, read } = await createStream(protocol)
  far.send(long(most + 16).subarray(0, 1_000))
  await eventually(() => expect(near.status).toBe('aborted'))
  expect(read().length).toBe(0)
})

test('a peer whose id is too long is not looked up', async () => {
  const named = (bytes: number) => framed(field(2, field(1, new Uint8Array(bytes))))
  const good = await createStream(RELAY_HOP)
  good.far.send(named(MAX_PEER_ID_BYTES))
  await eventually(() => expect(good.read().length).toBeGreaterThan(0))
  const { near, far } = await createStream(RELAY_HOP)
  far.send(named(MAX_PEER_ID_BYTES + 1))
  await eventually(() => expect(near.status).toBe('aborted'))
})

test('what follows the question of a relay is what it carries, and has no bound here', async () => {
  const { far, near, read } = await createStream(RELAY_HOP)
  const question = framed(field(2, field(1, new Uint8Array(38))))
  const carried = new Uint8Array(100_000).fill(0xff)
  far.send(question)
  far.send(carried)
  await eventually(() => expect(read().length).toBe(question.length + carried.length))
  expect(near.status).toBe('open')
})

test('what a peer says of itself is bounded for the stream, in however many messages', async () => {
  const { near, far, read } = await createStream('/ipfs/id/push/1.0.0')
  // the addresses, and their signed record
  const message = long(MAX_IDENTIFY_BYTES - 16)
  for (let sent = 0; sent < 2; sent++) far.send(message)
  await eventually(() => expect(read().length).toBe(2 * message.length))
  expect(near.status).toBe('open')
  far.send(long(1_000))
  await eventually(() => expect(near.status).toBe('aborted'))
})

test('answers of the DHT may be longer than questions to it', async () => {
  const { near, far, read } = await createStream(PRIVATE_DHT_PROTOCOL, 'near')
  near.send(Uint8Array.of(0))
  const answer = long(MAX_DHT_ANSWER_BYTES - 16)
  far.send(answer)
  await eventually(() => expect(read().length).toBe(answer.length))
  far.send(long(MAX_DHT_ANSWER_BYTES + 16))
  await eventually(() => expect(near.status).toBe('aborted'))
})

test('other protocols are none of its business', async () => {
  const { near, far, read } = await createStream('/mesh/other/1')
  far.send(new Uint8Array(200_000).fill(0xff))
  await eventually(() => expect(read().length).toBe(200_000))
  expect(near.status).toBe('open')
})

test('whoever counts what a stream brings goes on counting when nothing is looked at any more', async () => {
  const { near, far, read } = await createStream('/mesh/some/1')
  let count = 0
  const dispatch = near.dispatchEvent.bind(near)
  near.dispatchEvent = (event) => {
    if (event.type === 'message') count += (event as MessageEvent<Uint8Array>).data.byteLength
    return dispatch(event)
  }
  for (const text of ['first', 'second', 'third']) {
    far.send(Buffer.from(text))
    await eventually(() => expect(read().toString()).toContain(text))
  }
  expect(count).toBe('firstsecondthird'.length)
})

import { once } from 'node:events'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect, test } from 'vitest'
import { STREAM_WINDOW_BYTES } from '../limits.ts'
import { muxer } from '../libp2p/muxer.ts'

const MESSAGE_BYTES = 4_096
const ROUNDS = 400

test('the window of a stream that is read as fast as it is filled stays what its path needs', async () => {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 2 })
  const build = muxer()
  const near = build().createStreamMuxer(outbound)
  const far = build().createStreamMuxer(inbound)
  const arriving = once(far, 'stream')
  const sender = await near.createStream()
  const message = new Uint8Array(MESSAGE_BYTES)
  sender.send(message)
  const [{ detail: receiver }] = await arriving
  for (let round = 0; round < ROUNDS; round++) {
    const read = once(receiver, 'message')
    sender.send(message)
    await read
  }
  const { recvWindow } = receiver as { recvWindow: number }
  expect(recvWindow).toBeLessThan(STREAM_WINDOW_BYTES)
  await Promise.all([near.close(), far.close()])
})

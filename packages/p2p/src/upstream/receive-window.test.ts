import { systemClock } from '@mesh/core'
import { once } from 'node:events'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect, test, vi } from 'vitest'
import { muxer } from '../libp2p/muxer.ts'

const MESSAGE_BYTES = 4_096
const ROUNDS = 400
/** The least window: each half of it is worth an update. */
const WINDOW_BYTES = 256 * 1024

test('a window update goes out when half of the window is used, not with each message', async () => {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 1 })
  const build = muxer(systemClock)
  const near = build().createStreamMuxer(outbound)
  const far = build().createStreamMuxer(inbound)
  const arriving = once(far, 'stream')
  const sender = await near.createStream()
  const updates = vi.spyOn(sender as unknown as { handleWindowUpdate(): void }, 'handleWindowUpdate')
  const message = new Uint8Array(MESSAGE_BYTES)
  sender.send(message)
  const [{ detail: receiver }] = await arriving
  for (let round = 0; round < ROUNDS; round++) {
    const read = once(receiver, 'message')
    sender.send(message)
    await read
  }
  // and the one that opens the stream
  expect(updates.mock.calls.length).toBeLessThanOrEqual((ROUNDS * MESSAGE_BYTES) / (WINDOW_BYTES / 2) + 2)
  expect(updates.mock.calls.length).toBeGreaterThan(1)
  await Promise.all([near.close(), far.close()])
})

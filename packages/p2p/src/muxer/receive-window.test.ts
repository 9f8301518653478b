import { systemClock } from '@mesh/core'
import { once } from 'node:events'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect, test, vi } from 'vitest'
import { FIRST_WINDOW_BYTES } from './frame.ts'
import { muxer } from './index.ts'
import { ReceiveWindow } from './receive-window.ts'

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
  const frames = vi.spyOn(sender, 'handle')
  const message = new Uint8Array(MESSAGE_BYTES)
  sender.send(message)
  const [{ detail: receiver }] = await arriving
  for (let round = 0; round < ROUNDS; round++) {
    const read = once(receiver, 'message')
    sender.send(message)
    await read
  }
  // and the one that opens the stream
  const updates = frames.mock.calls.length
  expect(updates).toBeLessThanOrEqual((ROUNDS * MESSAGE_BYTES) / (WINDOW_BYTES / 2) + 2)
  expect(updates).toBeGreaterThan(1)
  await Promise.all([near.close(), far.close()])
})

test('the window grows while half of it takes few round trips, and opens as bytes are read', () => {
  const window = new ReceiveWindow(0)
  expect(window.take(FIRST_WINDOW_BYTES)).toBe(true)
  expect(window.open(FIRST_WINDOW_BYTES, 1, 1)).toBe(0)
  expect(window.open(0, 1, 1)).toBe(2 * FIRST_WINDOW_BYTES)
  expect(window.take(2 * FIRST_WINDOW_BYTES)).toBe(true)
  expect(window.open(0, 100, 1)).toBe(2 * FIRST_WINDOW_BYTES)
  expect(window.take(2 * FIRST_WINDOW_BYTES + 1)).toBe(false)
})

import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { muxer } from '../libp2p/muxer.ts'

const [PING, SYN] = [2, 1]

function ping(): Uint8Array {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt8(PING, 1)
  bytes.writeUInt16BE(SYN, 2)
  return bytes
}

test('a ping and a new stream that come while the connection closes are no error', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(systemClock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const uncaught = vi.fn<(error: unknown) => void>()
  process.on('uncaughtException', uncaught)
  onTestFinished(() => void process.off('uncaughtException', uncaught))
  Object.assign(inbound, { writeStatus: 'closing' })
  far.send(ping())
  const opened = Buffer.alloc(12)
  opened.writeUInt16BE(SYN, 2)
  opened.writeUInt32BE(1, 4)
  far.send(opened)
  await eventually(() => expect(near.streams).toHaveLength(1))
  near.abort(new Error('enough'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(uncaught).not.toHaveBeenCalled()
  expect(near.status).toBe('closed')
})

import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { YAMUX, yamuxHead } from '@mesh/testkit'
import { muxer } from '../libp2p/muxer.ts'

test('a ping and a new stream that come while the connection closes are no error', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(systemClock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const uncaught = vi.fn<(error: unknown) => void>()
  process.on('uncaughtException', uncaught)
  onTestFinished(() => void process.off('uncaughtException', uncaught))
  Object.assign(inbound, { writeStatus: 'closing' })
  far.send(yamuxHead({ type: YAMUX.PING, flags: YAMUX.SYN, stream: 0 }))
  far.send(yamuxHead({ type: YAMUX.DATA, flags: YAMUX.SYN, stream: 1 }))
  await eventually(() => expect(near.streams).toHaveLength(1))
  near.abort(new Error('enough'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(uncaught).not.toHaveBeenCalled()
  expect(near.status).toBe('closed')
})

import { multiaddrConnectionPair } from '@libp2p/utils'
import { createManualClock, eventually, YAMUX, yamuxHead } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from './index.ts'
import { PINGS } from '../limits.ts'
import { MAX_REFUSED_PINGS } from './limits.ts'

test('pings are answered at a rate, and a peer that goes on loses the connection', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(createManualClock())().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  let answers = 0
  far.addEventListener('message', ({ data }) => {
    const bytes = data.subarray()
    for (let at = 0; at < bytes.length; at += 12)
      if (bytes[at + 1] === YAMUX.PING && bytes[at + 3] === 2) answers++
  })
  const ping = (length: number) =>
    far.send(yamuxHead({ type: YAMUX.PING, flags: YAMUX.SYN, stream: 0, length }))
  for (let id = 0; id < PINGS.burst + 100; id++) ping(id)
  await eventually(() => expect(answers).toBeGreaterThanOrEqual(PINGS.burst))
  expect([answers, inbound.status]).toEqual([PINGS.burst, 'open'])
  for (let id = 0; id < MAX_REFUSED_PINGS; id++) ping(id)
  await eventually(() => expect(inbound.status).not.toBe('open'))
  expect(answers).toBe(PINGS.burst)
})

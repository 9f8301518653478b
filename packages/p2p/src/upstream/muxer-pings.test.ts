import { multiaddrConnectionPair } from '@libp2p/utils'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { muxer } from '../libp2p/muxer.ts'
import { PINGS_BURST } from '../limits.ts'
import { MAX_REFUSED_PINGS } from './limits.ts'

/** The flag of an answer to a ping. */
const ANSWERS = 2

/** What the library keeps to itself. */
interface Pinging {
  sendPing(id: number, flag?: number): void
  handlePing(header: { readonly flag: number }): void
}

test('pings of the muxer are answered at a rate, and who goes on loses the connection', async () => {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const clock = createManualClock()
  const build = muxer(clock)
  const far = build().createStreamMuxer(outbound)
  const near = build().createStreamMuxer(inbound)
  onTestFinished(async () => void (await Promise.all([far.close(), near.close()])))
  let answers = 0
  // an answer to a ping that was not asked for would end the connection
  const asking = far as unknown as Pinging
  asking.handlePing = ({ flag }) => (answers += flag === ANSWERS ? 1 : 0)
  for (let id = 0; id < PINGS_BURST + 100; id++) asking.sendPing(id)
  await eventually(() => expect(answers).toBeGreaterThanOrEqual(PINGS_BURST))
  expect([answers, inbound.status]).toEqual([PINGS_BURST, 'open'])
  for (let id = 0; id < MAX_REFUSED_PINGS; id++) asking.sendPing(id)
  await eventually(() => expect(inbound.status).not.toBe('open'))
  expect(answers).toBe(PINGS_BURST)
})

import { type PeerId, silentLogger, systemRandom } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { Exchanges } from './exchanges.ts'
import type { TrustChannels } from '../ports.ts'

test('a peer that was there before the start is talked with', async () => {
  const peer = 'somebody' as PeerId
  const opened: PeerId[] = []
  const channels: TrustChannels = {
    handle: async () => {},
    open: async (to) => {
      opened.push(to)
      throw new Error('the test ends here')
    },
    peersWith: () => [peer],
    onPeerWith: () => () => {},
  }
  const kind = {
    first: 'digest',
    isWanted: () => true,
    begin: async () => {},
    answer: async () => {},
  } as const
  const clock = createManualClock()
  const exchanges = new Exchanges({ channels, kinds: [kind], clock, random: systemRandom, log: silentLogger })
  await exchanges.start()
  await clock.advance(1)
  expect(opened).toEqual([peer])
  expect(exchanges.present()).toEqual([peer])
  exchanges.stop()
})

import { type PeerId, silentLogger, systemRandom } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { Exchanges } from './exchanges.ts'
import { EXCHANGE_RATES } from '../limits.ts'
import type { TrustChannel, TrustChannels } from '../ports.ts'

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

test('many keys of one address leave others their turn', async () => {
  let serve: (channel: TrustChannel) => Promise<void> = async () => {}
  const channels: TrustChannels = {
    handle: async (_protocol, _options, handler) => void (serve = handler),
    open: () => Promise.reject(new Error('nobody is asked')),
    peersWith: () => [],
    onPeerWith: () => () => {},
  }
  const clock = createManualClock()
  const exchanges = new Exchanges({ channels, kinds: [], clock, random: systemRandom, log: silentLogger })
  await exchanges.start()
  const ask = async (peer: string, address: string): Promise<boolean> => {
    let isServed = true
    await serve({
      peer: peer as PeerId,
      address,
      send: async () => {},
      async *messages() {},
      close: async () => {},
      abort: () => (isServed = false),
    })
    return isServed
  }
  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, at) => ask(`key ${at}`, '192.0.2.1')))
  expect(outcomes.filter(Boolean)).toHaveLength(EXCHANGE_RATES.perAddress?.burst ?? 0)
  expect(await ask('somebody', '192.0.2.2')).toBe(true)
  exchanges.stop()
})

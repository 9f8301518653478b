import { type PeerId, silentLogger } from '@mesh/core'
import { encodeBlock } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { BlockReceiver } from './block-receiver.ts'

test('what a flood brings by one peer holds up neither that peer nor a connected member behind it', async () => {
  const clock = createManualClock()
  const [relay, near] = ['relay', 'near'] as PeerId[] as [PeerId, PeerId]
  const judged: string[] = []
  const receiver = new BlockReceiver(
    { onBlock() {}, onMember() {} },
    {
      ledger: {
        self: 'self' as PeerId,
        mode: 'enforce',
        snapshot: () => ({ getLive: () => undefined }) as never,
        receiveBlock: async (_block, author) => {
          judged.push(author ?? '')
          return { accepted: 0, rejected: [] } as never
        },
      },
      members: { isOurs: (peer) => peer === near },
      compression: {
        gzip: (bytes: Uint8Array) => bytes,
        inflatedBytes: (bytes: Uint8Array) => bytes.length,
        gunzip: (bytes: Uint8Array) => bytes,
      } as never,
      clock,
      logger: silentLogger,
    },
  )
  const plaintext = encodeBlock([])
  // more than one peer may bring at once
  for (let n = 0; n < 3_000; n++) receiver.take({ author: `fresh ${n}` as PeerId, plaintext, from: relay })
  expect(receiver.refused).toEqual({ OVERLOAD: 1_000 })
  expect(receiver.take({ author: relay, plaintext, from: relay })).toBe(true)
  expect(receiver.take({ author: near, plaintext, from: relay })).toBe(true)
  await clock.advance(1)
  expect(judged).toHaveLength(2_002)
  expect(judged.indexOf(relay)).toBeLessThan(10)
  expect(judged.indexOf(near)).toBeLessThan(10)
  receiver.stop()
})

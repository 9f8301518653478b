import type { Connection } from '@libp2p/interface'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { pingConnection } from './ping.ts'

test('a stream that the other side ended before the ping was sent fails the ping, and nothing else', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const stream = Object.assign(new EventTarget(), {
    send: () => {
      throw new Error('ended')
    },
    abort: (error: Error) => stream.dispatchEvent(Object.assign(new Event('close'), { error })),
  })
  const connection = { newStream: async () => stream } as unknown as Connection
  const given = {
    clock: createManualClock(),
    random: createSeededRandom(1),
    signal: new AbortController().signal,
  }
  await expect(pingConnection(connection, given)).rejects.toThrow('ended')
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

import type { Connection, PeerId } from '@libp2p/interface'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { DHT_QUESTIONS, DHT_RECORDS } from '../limits.ts'
import { boundQuestions } from './questions.ts'

const asker = (name: string) => ({ toString: () => name }) as PeerId

test('one address with many keys asks a DHT so much and leaves so much, and others are not concerned', async () => {
  const clock = createManualClock()
  const answered: string[] = []
  const rpc = {
    async handleMessage(_asker: PeerId, { type }: { readonly type: string }) {
      answered.push(type)
    },
  }
  const connections = [
    ...Array.from({ length: 50 }, (_, n) => ({
      remotePeer: `sybil${n}`,
      remoteAddr: multiaddr('/ip4/192.0.2.66/tcp/1'),
    })),
    { remotePeer: 'honest', remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') },
  ] as unknown as readonly Connection[]
  boundQuestions(
    { rpc },
    {
      getConnections: (peer) => connections.filter(({ remotePeer }) => String(remotePeer) === String(peer)),
    },
    clock,
  )
  const ask = (name: string, type: string) =>
    rpc.handleMessage(asker(name), { type }).then(
      () => true,
      () => false,
    )
  for (let n = 0; n < 1_000; n++) await ask(`sybil${n % 50}`, n % 2 === 0 ? 'FIND_NODE' : 'ADD_PROVIDER')
  const of = (type: string) => answered.filter((each) => each === type).length
  expect(of('FIND_NODE')).toBe(DHT_QUESTIONS.perAddress.burst)
  expect(of('ADD_PROVIDER')).toBe(DHT_RECORDS.perAddress.burst)
  expect(await ask('honest', 'ADD_PROVIDER')).toBe(true)
  expect(await ask('gone', 'FIND_NODE')).toBe(false)
  await clock.advance(1_000)
  expect(await ask('sybil0', 'FIND_NODE')).toBe(true)
})

test('a library without the inner name ends the start', () => {
  const host = { getConnections: () => [] }
  expect(() => boundQuestions({ rpc: {} }, host, createManualClock())).toThrow('does not fit')
})

import { setFlagsFromString } from 'node:v8'
import vm from 'node:vm'
import type { Connection, PeerId, Stream } from '@libp2p/interface'
import { createManualClock, eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { DHT_QUESTIONS_BY_ADDRESS, DHT_RECORDS_BY_ADDRESS } from '../limits.ts'
import { boundQuestions, boundRecords, releaseEnded } from './dht-bounds.ts'

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
  expect(of('FIND_NODE')).toBe(DHT_QUESTIONS_BY_ADDRESS.burst)
  expect(of('ADD_PROVIDER')).toBe(DHT_RECORDS_BY_ADDRESS.burst)
  expect(await ask('honest', 'ADD_PROVIDER')).toBe(true)
  expect(await ask('gone', 'FIND_NODE')).toBe(false)
  await clock.advance(1_000)
  expect(await ask('sybil0', 'FIND_NODE')).toBe(true)
})

test('a DHT keeps the newest of its records', async () => {
  const held = new Map<string, string>()
  const store = boundRecords(
    {
      async put(key: string, value: string) {
        held.set(key, value)
      },
      async delete(key: string) {
        held.delete(key)
      },
      has: (key: string) => held.has(key),
    },
    3,
  )
  for (const key of ['a', 'b', 'c', 'a', 'd']) await store.put(key, '1')
  expect([...held.keys()].toSorted()).toEqual(['a', 'c', 'd'])
  await store.delete('c')
  await store.put('e', '1')
  expect([...held.keys()].toSorted()).toEqual(['a', 'd', 'e'])
  expect(store.has('e')).toBe(true)
})

test('a DHT lets go of a stream that has ended, whoever waits for its time to be over', async () => {
  const timeout = new AbortController()
  const asked: (string | undefined)[] = []
  const rpc = {
    // as @libp2p/kad-dht does: the listener stays when the stream has ended
    async onIncomingStream(stream: Stream, _connection: Connection) {
      timeout.signal.addEventListener('abort', () => stream.abort(new Error('too late')))
      asked.push(stream.protocol)
      await stream.close()
    },
  }
  releaseEnded({ rpc })
  const aborted: string[] = []
  const openStream = (protocol: string) =>
    ({
      protocol,
      close: async () => {
        if (protocol === 'broken') throw new Error('reset')
      },
      abort: () => aborted.push(protocol),
    }) as unknown as Stream
  const take = async (protocol: string) => {
    const stream = openStream(protocol)
    await rpc.onIncomingStream(stream, {} as Connection).catch((error: Error) => asked.push(error.message))
    return new WeakRef(stream)
  }
  const refs = [await take('whole'), await take('broken')]
  expect(asked).toEqual(['whole', 'broken', 'reset'])
  setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  await eventually(() => {
    collect()
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined])
  })
  timeout.abort()
  expect(aborted).toEqual([])
})

import { setFlagsFromString } from 'node:v8'
import vm from 'node:vm'
import type { Connection, Stream, StreamHandler } from '@libp2p/interface'
import { loopBudget } from '@mesh/core/limits'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { boundRecords, dhtComponents } from './dht-components.ts'

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
  let handler: StreamHandler = () => {}
  const registrar = {
    handle: async (_protocol: string, handle: StreamHandler) => void (handler = handle),
  }
  const components = dhtComponents({ registrar, connectionManager: {}, ping: {}, datastore: {} } as never, {
    connect: async () => {},
    budget: loopBudget(createManualClock()),
    maxRecords: 1,
  }) as { readonly registrar: typeof registrar }
  await components.registrar.handle('/kad', (stream, connection) => rpc.onIncomingStream(stream, connection))
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
    await Promise.resolve(handler(stream, {} as Connection)).catch((error: Error) =>
      asked.push(error.message),
    )
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

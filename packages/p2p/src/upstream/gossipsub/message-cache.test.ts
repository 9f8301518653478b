import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { boundMessageCache } from './bounds.ts'

/** What the library keeps to itself. */
interface Cached {
  readonly mcache: {
    readonly size: number
    readonly msgs: ReadonlyMap<string, { readonly message: Record<string, Uint8Array> }>
    put(id: { readonly msgIdStr: string }, message: object, validated: boolean): boolean
    shift(): void
  }
}

async function createCache() {
  const host = await createLibp2p({
    start: false,
    services: { identify: identify(), pubsub: gossipsub({ mcacheLength: 2 }) as never },
  })
  onTestFinished(() => host.stop())
  const pubsub = host.services['pubsub'] as never
  boundMessageCache(pubsub, 1_000)
  return (pubsub as Cached).mcache
}

test('large messages are not kept when those that are kept take too much', async () => {
  const mcache = await createCache()
  const put = (name: string, length: number) =>
    mcache.put({ msgIdStr: name }, { topic: 't', data: new Uint8Array(length) }, true)
  expect([put('a', 600), put('a', 600), put('b', 600), put('c', 400)]).toEqual([true, false, false, true])
  expect(mcache.size).toBe(2)
  mcache.shift()
  expect(put('d', 1)).toBe(false)
  mcache.shift()
  expect([mcache.size, put('e', 1_000)]).toEqual([0, true])
})

test('a message that is a small part of its frame does not keep the frame', async () => {
  const mcache = await createCache()
  const frame = new Uint8Array(1_000_000).fill(7)
  const message = { topic: 't', from: frame.subarray(0, 40), data: frame.subarray(40, 340) }
  mcache.put({ msgIdStr: 'part' }, message, true)
  const kept = mcache.msgs.get('part')?.message
  expect(kept).toEqual(message)
  expect([kept?.['from'], kept?.['data']].map((bytes) => bytes?.buffer.byteLength)).toEqual([40, 300])
})

import v8 from 'node:v8'
import vm from 'node:vm'
import type { Connection, Stream } from '@libp2p/interface'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { delay, systemClock } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import { writeFrame } from '../libp2p/frames.ts'
import { HeldBytes } from '../libp2p/held-bytes.ts'
import { encodePrefix } from '../length-prefix.ts'
import { muxer } from '../muxer/index.ts'
import type { Refusals } from '../refusals.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { InboundStreams } from './inbound-streams.ts'

async function openStream(): Promise<readonly [near: Stream, far: Stream]> {
  const [outbound, inbound] = multiaddrConnectionPair({ delay: 0 })
  const build = muxer(systemClock)
  const [far, near] = [build().createStreamMuxer(outbound), build().createStreamMuxer(inbound)]
  onTestFinished(async () => {
    await Promise.all([far.close(), near.close()])
  })
  const opened = new Promise<Stream>((resolve) => {
    near.addEventListener('stream', (event) => resolve((event as CustomEvent<Stream>).detail), { once: true })
  })
  const stream = await far.createStream()
  return [await opened, stream]
}

test('a gossip stream on which nothing more comes does not keep its last frame', async () => {
  const [near, far] = await openStream()
  const taken: WeakRef<ArrayBufferLike>[] = []
  const pubsub = {
    streamsInbound: new Map(),
    decodeRpc(frame: Uint8Array) {
      taken.push(new WeakRef(frame.buffer))
      throw new Error('no frame')
    },
  }
  const refused: string[] = []
  const clock = createManualClock()
  const streams = new InboundStreams(
    { maxFrameBytes: 2 ** 20 },
    {
      pubsub: pubsub as unknown as GossipInternals,
      held: new HeldBytes({ isMember: () => false, maxFrameBytes: 0 }),
      refusals: { refuse: (code: string) => refused.push(code) } as unknown as Refusals,
      clock,
    },
  )
  const connection = { id: '1', remotePeer: 'far', remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') }
  streams.take(near, connection as unknown as Connection)
  await writeFrame(far, new Uint8Array(100_000))
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  await eventually(async () => {
    await delay(systemClock, 1)
    collect()
    expect(taken.map((frame) => frame.deref())).toEqual([undefined])
  })
  await writeFrame(far, Uint8Array.of(1))
  await eventually(() => expect(refused).toEqual(['topic.bad_frame', 'topic.bad_frame']))
})

test('messages of one frame are handled one by one, in a share of the time', async () => {
  const [near, far] = await openStream()
  const clock = createManualClock()
  let worked = 0
  const handled: unknown[] = []
  const pubsub = {
    streamsInbound: new Map(),
    decodeRpc: () => ({ subscriptions: ['topic'], messages: Array.from({ length: 20 }, (_, at) => at) }),
    async handleReceivedRpc(_from: unknown, rpc: { readonly messages: readonly unknown[] }) {
      handled.push(...('subscriptions' in rpc ? ['subscriptions'] : []), ...rpc.messages)
      worked += 3 * rpc.messages.length
    },
  }
  const streams = new InboundStreams(
    { maxFrameBytes: 2 ** 20 },
    {
      pubsub: pubsub as unknown as GossipInternals,
      held: new HeldBytes({ isMember: () => true, maxFrameBytes: 0 }),
      refusals: { refuse() {} } as unknown as Refusals,
      clock: { ...clock, after: clock.after.bind(clock), monotonic: () => clock.monotonic() + worked },
    },
  )
  const connection = { id: '1', remotePeer: 'far', remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') }
  streams.take(near, connection as unknown as Connection)
  await writeFrame(far, Uint8Array.of(1))
  await eventually(() => expect(handled.length).toBeGreaterThan(2))
  await new Promise((resolve) => setImmediate(resolve))
  expect(handled.length).toBeLessThan(10)
  await eventually(async () => {
    await clock.advance(20)
    expect(handled).toEqual(['subscriptions', ...Array.from({ length: 20 }, (_, at) => at)])
  })
})

const MIB = 2 ** 20

/** Sends a frame in pieces that the stream's buffer has room for. */
async function writeLong(stream: Stream, byteLength: number): Promise<void> {
  const frame = Buffer.concat([encodePrefix(byteLength), new Uint8Array(byteLength)])
  for (let at = 0; at < frame.byteLength; at += 65_536) {
    stream.send(frame.subarray(at, at + 65_536))
    while (stream.writableNeedsDrain) await delay(systemClock, 0)
  }
}

/** Reads a stream whose frames are not handled until `goOn`; `frames` are those that were begun with. */
async function holdFrames() {
  const [near, far] = await openStream()
  const frames: Uint8Array[] = []
  const handled = Promise.withResolvers<void>()
  const pubsub = {
    streamsInbound: new Map(),
    decodeRpc(frame: Uint8Array) {
      frames.push(frame)
      return { messages: [frame] }
    },
    handleReceivedRpc: () => handled.promise,
  }
  const held = new HeldBytes({ isMember: () => true, maxFrameBytes: 0 })
  const refused: string[] = []
  const streams = new InboundStreams(
    { maxFrameBytes: 20 * MIB },
    {
      pubsub: pubsub as unknown as GossipInternals,
      held,
      refusals: { refuse: (code: string) => refused.push(code) } as unknown as Refusals,
      clock: systemClock,
    },
  )
  const connection = { id: '1', remotePeer: 'far', remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') }
  streams.take(near, connection as unknown as Connection)
  return { near, far, frames, held, refused, goOn: () => handled.resolve() }
}

test('a long frame counts until it was handled', async () => {
  const { far, frames, held, goOn } = await holdFrames()
  await writeLong(far, 9 * MIB)
  await eventually(() => expect(frames.map(({ byteLength }) => byteLength)).toEqual([9 * MIB]))
  expect(held.bytes).toBe(9 * MIB)
  goOn()
  await eventually(() => expect(held.bytes).toBe(0))
})

test('a stream whose long frame waits to be handled is reset when too much is held', async () => {
  const { near, far, frames, held, refused } = await holdFrames()
  await writeLong(far, 9 * MIB)
  await eventually(() => expect(frames).toHaveLength(1))
  expect(held.bytes).toBe(9 * MIB)
  const holdMore = () => held.track({ peer: 'far', address: '192.0.2.1', abort: () => {} })(8 * MIB)
  holdMore()
  expect(near.status).toBe('open')
  holdMore()
  expect([near.status, refused, held.bytes]).toEqual(['aborted', ['topic.too_much_held'], 16 * MIB])
})

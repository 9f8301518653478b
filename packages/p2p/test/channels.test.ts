/** Channels between members: bounded, with backpressure, and for nobody else. */
import { delay, parsePeerId, type PeerId, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { writeFrame } from '../src/libp2p/frames.ts'
import type { Channel } from '../src/p2p-node.ts'
import { createTestNetwork, type TestMember, type TestNetwork } from './members.ts'

const PROTOCOL = '/mesh/test/1'
const BOUND = { maxMessageBytes: 1024 * 1024 }

let network: TestNetwork
let a: TestMember
let b: TestMember
beforeEach(async () => {
  network = createTestNetwork()
  ;[a, b] = await Promise.all([network.member(), network.member()])
  await a.connect(b)
})
afterEach(() => network.stop())

/** Sends back what comes, until the other side closes. */
async function echo(channel: Channel): Promise<void> {
  for await (const message of channel.messages()) await channel.send(message)
}

async function all(channel: Channel): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = []
  for await (const message of channel.messages()) messages.push(message)
  return messages
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code?: unknown; name: string }) => (typeof error.code === 'string' ? error.code : error.name),
  )

describe('a channel', () => {
  test('carries messages of every length both ways, in order', async () => {
    await b.channels.handle(PROTOCOL, BOUND, echo)
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    expect([channel.peer, channel.direct]).toEqual([b.id, true])
    const sent = [0, 1, 127, 128, 16_383, 16_384, 300_000, BOUND.maxMessageBytes].map((length) =>
      systemRandom.bytes(Math.min(length, 65_536)).length === length
        ? systemRandom.bytes(length)
        : new Uint8Array(length).fill(length % 251),
    )
    const answers = all(channel)
    for (const message of sent) await channel.send(message)
    await channel.close()
    expect(await answers).toEqual(sent)
  })

  test('is there at once, before the handshake had time to happen', async () => {
    const c = await network.member()
    await c.channels.handle(PROTOCOL, BOUND, echo)
    await a.connect(c)
    const channel = await a.channels.open(c.id, PROTOCOL, BOUND)
    await channel.send(Uint8Array.of(1))
    await channel.close()
    expect(await all(channel)).toEqual([Uint8Array.of(1)])
  })

  test('goes over another connection when one closes before the peer has proved itself', async () => {
    await b.channels.handle(PROTOCOL, BOUND, echo)
    // the addresses to dial again are known then
    await eventually(() => expect(a.membership.isProven(b.id)).toBe(true))
    await a.libp2p.peerStore.merge(b.libp2p.peerId, { multiaddrs: b.libp2p.getMultiaddrs() })
    const prove = vi.spyOn(a.membership, 'prove').mockImplementationOnce(async (connection) => {
      await connection.close()
      return false
    })
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    await channel.send(Uint8Array.of(1))
    await channel.close()
    expect(await all(channel)).toEqual([Uint8Array.of(1)])
    expect(prove).toHaveBeenCalledTimes(2)
  })

  test('ends for a reader who comes when the other side has closed already', async () => {
    await b.channels.handle(PROTOCOL, BOUND, async (channel) => {
      await channel.messages()[Symbol.asyncIterator]().next()
      await channel.send(Uint8Array.of(1))
      await channel.send(Uint8Array.of(2))
    })
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    await channel.send(Uint8Array.of(0))
    await delay(systemClock, 100)
    expect(await all(channel)).toEqual([Uint8Array.of(1), Uint8Array.of(2)])
  })

  test('that speaks first and closes at once is heard', async () => {
    await b.channels.handle(PROTOCOL, BOUND, (channel) => channel.send(Uint8Array.of(1)))
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    expect(await all(channel)).toEqual([Uint8Array.of(1)])
  })

  test('throws for a reader when the other side broke off', async () => {
    await b.channels.handle(PROTOCOL, BOUND, async (channel) => {
      await channel.messages()[Symbol.asyncIterator]().next()
      throw new Error('had enough')
    })
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    await channel.send(Uint8Array.of(0))
    expect(await code(all(channel))).toBe('p2p.channel_closed')
    expect(await code(channel.send(Uint8Array.of(1)))).toBe('p2p.channel_closed')
  })

  test('holds a fast sender back while the reader is slow, and loses nothing', async () => {
    let held = true
    let received = 0
    let intact = true
    await b.channels.handle(PROTOCOL, BOUND, async (channel) => {
      for await (const message of channel.messages()) {
        intact &&= message.every((byte) => byte === received % 256)
        received++
        while (held) await delay(systemClock, 5)
      }
    })
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    const count = 512
    let sent = 0
    const sending = (async () => {
      for (; sent < count; sent++) await channel.send(new Uint8Array(65_536).fill(sent % 256))
      await channel.close()
    })()
    await eventually(() => expect(sent).toBeGreaterThan(4))
    let before = -1
    await eventually(
      () => {
        const stalled = sent === before
        before = sent
        if (!stalled) throw new Error('still sending')
      },
      { everyMs: 200 },
    )
    // 32 MiB in all; what is on the way is bounded by windows and buffers
    expect(sent * 65_536).toBeLessThan(8 * 1024 * 1024)
    held = false
    await sending
    await eventually(() => expect(received).toBe(count))
    expect(intact).toBe(true)
  }, 20_000)

  test('with thousands of messages in one block of bytes leaves time for everything else between them', async () => {
    let received = 0
    let most = 0
    let before = 0
    const look = () => {
      most = Math.max(most, received - before)
      before = received
      if (received < 1_000) setImmediate(look)
    }
    await b.channels.handle(PROTOCOL, BOUND, async (channel) => {
      for await (const _ of channel.messages()) {
        if (received++ === 0) setImmediate(look)
        const until = performance.now() + 1
        while (performance.now() < until);
      }
    })
    const connection = a.libp2p.getConnections(b.libp2p.peerId)[0]
    await a.channels.open(b.id, PROTOCOL, BOUND)
    const stream = await connection?.newStream(PROTOCOL)
    stream?.send(new Uint8Array(1_000))
    await eventually(() => expect(received).toBe(1_000), { withinMs: 20_000 })
    expect(most).toBeLessThan(100)
  }, 30_000)

  test('refuses to send more than was agreed, and goes on', async () => {
    await b.channels.handle(PROTOCOL, BOUND, echo)
    const channel = await a.channels.open(b.id, PROTOCOL, { maxMessageBytes: 10 })
    expect(await code(channel.send(new Uint8Array(11)))).toBe('p2p.message_too_long')
    await channel.send(new Uint8Array(10))
    await channel.close()
    expect(await all(channel)).toHaveLength(1)
  })

  test('is reset and counted when a peer sends more than was agreed', async () => {
    const ends: string[] = []
    await b.channels.handle(PROTOCOL, { maxMessageBytes: 10 }, async (channel) => {
      ends.push(await code(all(channel)))
    })
    const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
    await channel.send(new Uint8Array(11))
    expect(await code(all(channel))).toBe('p2p.channel_closed')
    await eventually(() => expect(ends).toEqual(['p2p.message_too_long']))
    expect(b.refusals.counts()).toEqual({ 'channel.message_too_long': 1 })
  })

  test('is reset beyond the number that a peer may have', async () => {
    await b.channels.handle(PROTOCOL, { ...BOUND, maxPerPeer: 2 }, echo)
    const open = () => a.channels.open(b.id, PROTOCOL, BOUND)
    const [first, second] = [await open(), await open()]
    expect(await code(all(await open()))).toBe('p2p.channel_closed')
    expect(b.refusals.counts()).toEqual({ 'channel.too_many': 1 })
    await Promise.all([first.close(), second.close()])
    await Promise.all([all(first), all(second)])
    await eventually(async () => {
      const channel = await open()
      await channel.send(Uint8Array.of(7))
      await channel.close()
      expect(await all(channel)).toHaveLength(1)
    })
  })
})

describe('opening a channel says why it failed', () => {
  test('a protocol that the peer does not speak', async () => {
    expect(await code(a.channels.open(b.id, '/mesh/other/1', BOUND))).toBe('p2p.unsupported')
  })

  test('a peer that is nowhere', async () => {
    const nowhere = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
    expect(await code(a.channels.open(nowhere, PROTOCOL, BOUND))).toBe('p2p.unreachable')
  })

  test('a peer that is no member', async () => {
    const stranger = await network.stranger()
    await stranger.handle(PROTOCOL, () => {})
    await a.connect({ libp2p: stranger })
    const id = parsePeerId(stranger.peerId.toString())
    expect(await code(a.channels.open(id, PROTOCOL, BOUND))).toBe('p2p.not_member')
  })

  test('an aborted signal', async () => {
    const signal = AbortSignal.abort(new DOMException('enough', 'AbortError'))
    expect(await code(a.channels.open(b.id, PROTOCOL, { ...BOUND, signal }))).toBe('AbortError')
  })
})

describe('a peer without the key', () => {
  test('never reaches a handler, whatever it sends, and is counted', async () => {
    let served = 0
    await b.channels.handle(PROTOCOL, BOUND, async () => {
      served++
    })
    const other = await network.member(generateNetworkConfig({}, systemRandom))
    await other.connect(b)
    const [connection] = other.libp2p.getConnections()
    // a reset may come while the opening is still under way
    const ends = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const stream = await connection?.newStream([PROTOCOL]).catch(() => undefined)
        if (stream !== undefined) await writeFrame(stream, new Uint8Array(1000)).catch(() => {})
        return () => stream?.status ?? 'reset'
      }),
    )
    await eventually(
      () => {
        expect(ends.map((status) => status())).toEqual(ends.map(() => 'reset'))
        expect(b.refusals.counts()['channel.not_member']).toBe(12)
      },
      { withinMs: 15_000 },
    )
    expect(served).toBe(0)
  }, 20_000)
})

test('members that speak a protocol come and go', async () => {
  const seen: [PeerId, boolean][] = []
  a.channels.onPeerWith(PROTOCOL, (peer, present) => seen.push([peer, present]))
  expect(a.channels.peersWith(PROTOCOL)).toEqual([])
  await b.channels.handle(PROTOCOL, BOUND, echo)
  await eventually(() => expect(a.channels.peersWith(PROTOCOL)).toEqual([b.id]))
  await b.stop()
  await eventually(() => expect(a.channels.peersWith(PROTOCOL)).toEqual([]))
  expect(seen).toEqual([
    [b.id, true],
    [b.id, false],
  ])
})

test('stopping leaves no channel open', async () => {
  await b.channels.handle(PROTOCOL, BOUND, echo)
  const channel = await a.channels.open(b.id, PROTOCOL, BOUND)
  await channel.send(Uint8Array.of(1))
  await b.streams.stop()
  expect(await code(all(channel))).toBe('p2p.channel_closed')
  expect(await code(a.channels.open(b.id, PROTOCOL, BOUND))).toMatch(/^p2p\./)
})

/** Raw bytes between members, over a network without sockets. */
import { parsePeerId, type PeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ByteStream } from '../src/p2p-node.ts'
import { createByteStreams } from '../src/streams/byte-streams.ts'
import { createMemoryNode, type MemoryNodeInit, type P2pMember } from '../src/testing.ts'
import { createTestNetwork } from './members.ts'

const PROTOCOL = '/mesh/test/1'
const PROVEN = { from: 'proven', relayed: true } as const
const MANY = { ...PROVEN, maxPerPeer: 64 } as const
const components = { clock: systemClock, random: systemRandom, logger: silentLogger }
const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []

async function start(init: Partial<MemoryNodeInit> = {}): Promise<P2pMember> {
  const node = await createMemoryNode({ network, identity: systemRandom.bytes(32), ...init }, components)
  nodes.push(node)
  return node
}

let a: P2pMember
let b: P2pMember
beforeEach(async () => {
  a = await start()
  b = await start({ bootstrapPeers: a.addresses() })
  await connected(b, a)
})
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

async function connected(from: P2pMember, to: P2pMember): Promise<void> {
  await eventually(() => expect(from.speaks(to.self, '/mesh/member/1')).toBe(true))
}

/** What a stream brought, and how it ended. */
interface Watched {
  readonly stream: ByteStream
  readonly bytes: () => Uint8Array
  readonly ends: (string | undefined)[]
}

function watch(stream: ByteStream, reads = true): Watched {
  const chunks: Uint8Array[] = []
  const ends: (string | undefined)[] = []
  if (reads) stream.onBytes((bytes) => chunks.push(bytes))
  stream.onEnd((error) => ends.push(error?.message))
  return { stream, ends, bytes: () => Buffer.concat(chunks) }
}

/** `a` opens to `b`. */
async function pair(reads = true): Promise<{ near: Watched; far: Watched }> {
  const accepted: Watched[] = []
  await b.streams.handle(PROTOCOL, MANY, (stream) => accepted.push(watch(stream, reads)))
  const near = watch(await a.streams.open(b.self, PROTOCOL, PROVEN))
  await eventually(() => expect(accepted).toHaveLength(1))
  return { near, far: accepted[0] as Watched }
}

/** Gives time to what must not happen: the round trips of another stream over the same connection. */
async function letRoundTripsPass(): Promise<void> {
  for (let round = 0; round < 5; round++) await a.ping(b.self)
}

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code?: unknown; name: string }) => (typeof error.code === 'string' ? error.code : error.name),
  )

const NOWHERE = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')

describe('a byte stream', () => {
  test('carries bytes both ways and ends once at each side, without an error', async () => {
    const { near, far } = await pair()
    expect([near.stream.peer, near.stream.direct]).toEqual([b.self, true])
    expect([far.stream.peer, far.stream.direct]).toEqual([a.self, true])
    const sent = systemRandom.bytes(60_000)
    near.stream.send(sent.subarray(0, 1))
    near.stream.send(sent.subarray(1))
    far.stream.send(Uint8Array.of(7))
    await eventually(() => expect(near.bytes()).toEqual(Buffer.of(7)))
    near.stream.close()
    await eventually(() => expect([near.ends, far.ends]).toEqual([[undefined], [undefined]]))
    expect(far.bytes()).toEqual(Buffer.from(sent))
    expect(near.stream.send(Uint8Array.of(1))).toBe(false)
    await letRoundTripsPass()
    expect([near.ends, far.ends]).toEqual([[undefined], [undefined]])
  })

  test('keeps what came before anybody listened, also when the other side closed', async () => {
    const { near, far } = await pair(false)
    near.stream.send(Uint8Array.of(1, 2, 3))
    near.stream.close()
    await letRoundTripsPass()
    expect(far.ends).toEqual([])
    const got: Uint8Array[] = []
    far.stream.onBytes((bytes) => got.push(bytes))
    await eventually(() => expect(far.ends).toEqual([undefined]))
    expect(Buffer.concat(got)).toEqual(Buffer.of(1, 2, 3))
  })

  test('tells its end to who asks afterwards', async () => {
    const { near, far } = await pair()
    far.stream.abort(new Error('enough'))
    await eventually(() => expect(near.ends).toHaveLength(1))
    expect(watch(near.stream).ends).toEqual([])
    const late = watch(near.stream)
    await eventually(() => expect(late.ends).toEqual(['The stream has been reset']))
  })

  test.each([
    ['a reset', (far: Watched) => far.stream.abort(new Error('enough')), 'The stream has been reset'],
    ['an abort', (_: Watched, near: Watched) => near.stream.abort(new Error('mine')), 'mine'],
  ])('ends once by %s', async (_name, end, message) => {
    const { near, far } = await pair()
    near.stream.send(Uint8Array.of(1))
    await eventually(() => expect(far.bytes()).toHaveLength(1))
    end(far, near)
    await eventually(() => expect([near.ends, far.ends.length]).toEqual([[message], 1]))
    far.stream.close()
    near.stream.abort(new Error('again'))
    await letRoundTripsPass()
    expect([near.ends, far.ends.length]).toEqual([[message], 1])
  })

  test('ends once when a node stops', async () => {
    const { near, far } = await pair()
    near.stream.send(Uint8Array.of(1))
    await eventually(() => expect(far.bytes()).toHaveLength(1))
    await b.stop()
    await eventually(() => expect([near.ends.length, far.ends]).toEqual([1, ['this node stops']]))
  })

  test('ends with an error when the connection was cut', async () => {
    const { near, far } = await pair()
    near.stream.send(Uint8Array.of(1))
    await eventually(() => expect(far.bytes()).toHaveLength(1))
    const gone: PeerId[] = []
    b.onPath((peer) => gone.push(peer))
    await a.stop()
    await eventually(() => expect(far.ends).toHaveLength(1))
    expect(far.ends[0]).toBeDefined()
    expect(gone).toContain(a.self)
  })

  test('closing ends in time though the other side does not', async () => {
    const { near, far } = await pair(false)
    far.stream.pause()
    // more than the window holds
    for (let sent = 0; sent < 2 ** 21; sent += 65_536) near.stream.send(new Uint8Array(65_536))
    near.stream.close()
    await eventually(() => expect(near.ends).toHaveLength(1), { withinMs: 15_000 })
    expect(near.ends[0]).toBeDefined()
    await eventually(() => expect(far.ends).toHaveLength(1))
  }, 20_000)
})

describe('a byte stream whose directions end apart', () => {
  /** As `pair`, with the ends of the remote's direction told as 'remote'. */
  async function halves(): Promise<{
    near: Watched
    far: Watched
    told: (name: 'near' | 'far') => string[]
  }> {
    const accepted: Watched[] = []
    const remotes = { near: [] as string[], far: [] as string[] }
    await b.streams.handle(PROTOCOL, { ...MANY, halfClose: true }, (stream) => {
      stream.onRemoteEnd(() => remotes.far.push('remote'))
      accepted.push(watch(stream))
    })
    const opened = await a.streams.open(b.self, PROTOCOL, { ...PROVEN, halfClose: true })
    opened.onRemoteEnd(() => remotes.near.push('remote'))
    const near = watch(opened)
    await eventually(() => expect(accepted).toHaveLength(1))
    return { near, far: accepted[0] as Watched, told: (name) => remotes[name] }
  }

  test('answers after the other side ended, and ends without an error when both have', async () => {
    const { near, far, told } = await halves()
    near.stream.send(Uint8Array.of(1, 2))
    near.stream.end()
    await eventually(() => expect(told('far')).toEqual(['remote']))
    expect([far.bytes(), far.ends, near.ends]).toEqual([Buffer.of(1, 2), [], []])
    expect(near.stream.send(Uint8Array.of(3))).toBe(false)
    const { done } = pump(far.stream, 2 ** 21)
    await done
    far.stream.onEnd((error) => far.ends.push(error?.message))
    await letRoundTripsPass()
    expect([told('near'), near.bytes().byteLength]).toEqual([[], 2 ** 21])
    far.stream.end()
    await eventually(() => expect([near.ends, far.ends]).toEqual([[undefined], [undefined]]))
    expect([told('near'), told('far')]).toEqual([['remote'], ['remote']])
  })

  test('tells the end of the other direction only when everything before it was read', async () => {
    const { near, far, told } = await halves()
    far.stream.pause()
    // more than the window holds
    const { done } = pump(near.stream, 2 ** 21)
    near.stream.onEnd((error) => near.ends.push(error?.message))
    far.stream.end()
    await eventually(() => expect(told('near')).toEqual(['remote']))
    await letRoundTripsPass()
    expect([told('far'), near.ends]).toEqual([[], []])
    far.stream.resume()
    await done
    near.stream.end()
    await eventually(() => expect([near.ends, far.ends]).toEqual([[undefined], [undefined]]))
    expect(far.bytes()).toHaveLength(2 ** 21)
  })

  test('ends with an error when the connection is cut after one direction ended', async () => {
    const { near, far, told } = await halves()
    near.stream.send(Uint8Array.of(1))
    near.stream.end()
    await eventually(() => expect(told('far')).toEqual(['remote']))
    await a.stop()
    await eventually(() => expect(far.ends).toHaveLength(1))
    expect(far.ends[0]).toBeDefined()
  })

  test('a reset after one direction ended reaches the other side', async () => {
    const { near, far, told } = await halves()
    near.stream.send(Uint8Array.of(1))
    near.stream.end()
    await eventually(() => expect(told('far')).toEqual(['remote']))
    far.stream.abort(new Error('enough'))
    await eventually(() => expect([near.ends, far.ends]).toEqual([['The stream has been reset'], ['enough']]))
  })
})

describe('backpressure', () => {
  test('nobody listens: the sender is stopped at the window, and all arrives later', async () => {
    const { near, far } = await pair(false)
    const { sent, done } = pump(near.stream, 8 * 2 ** 20)
    await eventually(() => expect(sent()).toBeGreaterThan(0))
    await letRoundTripsPass()
    expect(sent()).toBeLessThan(2 ** 21)
    let received = 0
    let intact = true
    far.stream.onBytes((bytes) => {
      for (const byte of bytes.subarray(0, 1)) intact &&= byte === Math.floor(received / 65_536) % 256
      received += bytes.byteLength
    })
    await done
    near.stream.close()
    await eventually(() => expect(far.ends).toEqual([undefined]))
    expect([received, intact]).toEqual([8 * 2 ** 20, true])
  })

  test('a listener that pauses gets nothing more until it resumes, and all in order', async () => {
    const { near, far } = await pair(false)
    const got: number[] = []
    far.stream.onBytes((bytes) => {
      got.push(bytes.byteLength)
      far.stream.pause()
    })
    const { sent, done } = pump(near.stream, 4 * 2 ** 20)
    await eventually(() => expect(got).toHaveLength(1))
    await letRoundTripsPass()
    expect(got).toHaveLength(1)
    expect(sent()).toBeLessThan(2 ** 21)
    let total = got[0] ?? 0
    far.stream.onBytes((bytes) => {
      far.stream.pause()
      total += bytes.byteLength
      queueMicrotask(() => far.stream.resume())
    })
    far.stream.resume()
    await done
    near.stream.close()
    await eventually(() => expect(far.ends).toEqual([undefined]))
    expect(total).toBe(4 * 2 ** 20)
  })

  test('resuming and pausing inside of a listener keeps the order', async () => {
    const { near, far } = await pair(false)
    const got: number[] = []
    far.stream.onBytes((bytes) => {
      far.stream.pause()
      far.stream.resume()
      got.push(...bytes)
      far.stream.pause()
      queueMicrotask(() => far.stream.resume())
    })
    for (let byte = 0; byte < 200; byte++) near.stream.send(Uint8Array.of(byte))
    await eventually(() => expect(got).toHaveLength(200))
    expect(got).toEqual(Array.from({ length: 200 }, (_, byte) => byte))
  })
})

/** Sends blocks of 64 KiB, the n-th filled with n, as `onDrain` allows. */
function pump(stream: ByteStream, total: number): { sent: () => number; done: Promise<void> } {
  let sent = 0
  const done = new Promise<void>((resolve, reject) => {
    stream.onEnd((error) => reject(error ?? new Error('ended')))
    const more = () => {
      while (sent < total) {
        const block = new Uint8Array(65_536).fill((sent / 65_536) % 256)
        sent += block.byteLength
        if (!stream.send(block)) return
      }
      resolve()
    }
    stream.onDrain(more)
    more()
  })
  done.catch(() => {})
  return { sent: () => sent, done }
}

describe('opening says why it failed', () => {
  test.each([
    ['a protocol that the peer does not speak', () => b.self, 'p2p.unsupported'],
    ['a peer that is nowhere', () => NOWHERE, 'p2p.unreachable'],
  ])('%s', async (_name, peer, expected) => {
    expect(await code(a.streams.open(peer(), '/mesh/other/1', PROVEN))).toBe(expected)
  })

  test('an aborted signal', async () => {
    const signal = AbortSignal.abort(new DOMException('enough', 'AbortError'))
    expect(await code(a.streams.open(b.self, PROTOCOL, { ...PROVEN, signal }))).toBe('AbortError')
  })

  test('a peer that is no member', async () => {
    const stranger = await start({
      network: generateNetworkConfig({}, systemRandom),
      bootstrapPeers: a.addresses(),
    })
    await connected(stranger, a)
    expect(await code(a.streams.open(stranger.self, PROTOCOL, PROVEN))).toBe('p2p.not_member')
  })
})

describe('who may come', () => {
  test.each(['proven', 'heard'] as const)(
    '%s: a stranger reaches no handler and is counted',
    async (from) => {
      let served = 0
      const strangers = createTestNetwork()
      try {
        const member = await strangers.member()
        const streams = createByteStreams({
          ...components,
          streams: member.streams,
          bulk: () => undefined,
          unread: new Scope({ all: 0, evict: 'largest' }),
          unsent: { bytes: 0 },
        })
        await streams.handle(PROTOCOL, { ...MANY, from }, () => served++)
        const other = await strangers.member(generateNetworkConfig({}, systemRandom))
        await other.connect(member)
        const [connection] = other.libp2p.getConnections()
        // the reset may come before the opening is done
        const open = async () => connection?.newStream([PROTOCOL]).catch(() => undefined)
        const found = await Promise.all([open(), open(), open()])
        await eventually(
          () => {
            expect(found.map((stream) => stream?.status ?? 'reset')).toEqual(found.map(() => 'reset'))
            expect(member.refusals.counts()['channel.not_member']).toBe(3)
          },
          { withinMs: 15_000 },
        )
        expect(served).toBe(0)
      } finally {
        await strangers.stop()
      }
    },
    20_000,
  )

  test('no more than the handler takes of one peer at a time', async () => {
    const accepted: ByteStream[] = []
    await b.streams.handle(PROTOCOL, { ...PROVEN, maxPerPeer: 2 }, (stream) => accepted.push(stream))
    const open = async () => watch(await a.streams.open(b.self, PROTOCOL, PROVEN))
    const first = await open()
    await open()
    await eventually(() => expect(accepted).toHaveLength(2))
    const refused = await open().then(
      async ({ ends }) => {
        await eventually(() => expect(ends).toHaveLength(1))
        return ends[0]
      },
      (error: Error) => error.message,
    )
    expect(refused).toBeDefined()
    expect(b.refusals()).toEqual({ 'channel.too_many': 1 })
    accepted[0]?.onBytes(() => {})
    first.stream.close()
    await eventually(() => expect(first.ends).toEqual([undefined]))
    await eventually(async () => {
      await open()
      expect(accepted).toHaveLength(3)
    })
  })
})

describe('paths', () => {
  test('connects, knows then what the peer speaks, and tells when it goes', async () => {
    const c = await start()
    const seen: PeerId[] = []
    c.onPath((peer) => seen.push(peer))
    expect(c.speaks(a.self, PROTOCOL)).toBeUndefined()
    expect(await code(c.connect(NOWHERE, new AbortController().signal))).toBe('p2p.unreachable')
    await a.streams.handle(PROTOCOL, MANY, () => {})
    const d = await start({ bootstrapPeers: a.addresses() })
    // the dial to the bootstrap peer may be under way
    await eventually(() => d.connect(a.self, new AbortController().signal))
    expect([d.speaks(a.self, PROTOCOL), d.speaks(a.self, '/mesh/other/1')]).toEqual([true, false])
    expect(d.peer(a.self)).toMatchObject({ path: 'direct', transport: 'memory' })
    d.onPath((peer) => seen.push(peer))
    await a.stop()
    await eventually(() => expect(seen).toContain(a.self))
    expect(d.speaks(a.self, PROTOCOL)).toBeUndefined()
  })
})

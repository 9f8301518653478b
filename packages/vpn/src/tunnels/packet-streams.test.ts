import { type PeerId, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  HELD_STREAMS,
  PACKETS_PROTOCOL,
  STREAM_HELD_MS,
  STREAM_IDLE_MS,
  STREAM_MOVE_MS,
  STREAM_PROVEN_MS,
  STREAM_STALL_MS,
  STREAM_SWEEP_MS,
  STREAM_UNANSWERED_AGAIN_MS,
  STREAM_UNANSWERED_MS,
} from './limits.ts'
import { STREAM_RETRY } from '../streams/limits.ts'
import { PacketStreams } from './packet-streams.ts'
import { createRefusalCounter } from '../streams/refusals.ts'
import { peerOf } from '../testing/memory-machine.ts'
import { createMemoryNetwork, type MemoryMember, type MemoryNetwork } from '../testing/memory-network.ts'

const BATCH_BYTES = 60 * 1024
const [A, B] = [peerOf(1), peerOf(2)]

let network: MemoryNetwork
let a: End
let b: End

beforeEach(async () => {
  network = createMemoryNetwork()
  a = await createEnd(A)
  b = await createEnd(B)
})

describe('streams of packets', () => {
  it('carry what the engine has, and open no second one for more', async () => {
    a.give(B, 3)
    await flush()
    a.give(B, 2)
    await flush()
    expect(b.injected).toBe(5 * BATCH_BYTES)
    expect(live()).toHaveLength(1)
    expect(a.streams.streamsOf(B)).toEqual({ outboundDirect: true, inboundDirect: undefined })
    expect(b.streams.streamsOf(A)).toEqual({ outboundDirect: undefined, inboundDirect: true })
  })

  it('take no more from the engine than the stream takes', async () => {
    a.give(B, 1)
    await flush()
    b.hasRoom = false
    a.give(B, 100)
    await flush()
    expect(a.left(B)).toBeGreaterThan(90)
    b.hasRoom = true
    for (let round = 0; round < 40; round++) {
      b.streams.writable(A)
      await a.clock.advance(1)
      await flush()
    }
    expect(a.left(B)).toBe(0)
    expect(b.injected).toBe(101 * BATCH_BYTES)
    expect(Math.max(...network.opened.map(({ pair }) => pair.mostBytes))).toBeLessThan(320 * 1024)
  })

  it('are tried again after growing waits while the peer is away, and at once when it comes', async () => {
    network.setReach(A, B, undefined)
    a.give(B, 1)
    await flush()
    expect(a.streams.lastErrorOf(B)).toMatchObject({ code: 'p2p.unreachable' })
    const tries: number[] = []
    for (let second = 0; second < 120; second++) {
      const before = a.failures
      await a.clock.advance(1000)
      tries.push(a.failures - before)
    }
    expect(tries[0]).toBeGreaterThan(1)
    expect(a.failures).toBeLessThan(40)
    expect(Math.max(...tries.slice(60))).toBe(1)
    network.connect(A, B)
    a.streams.reach(B)
    await flush()
    expect(b.injected).toBe(BATCH_BYTES)
    expect(STREAM_RETRY.mostMs).toBeLessThan(60_000)
  })

  it('are opened again only for packets, and retryHandshake a handshake that may be lost', async () => {
    a.give(B, 1)
    await flush()
    await a.clock.advance(STREAM_PROVEN_MS)
    network.disconnect(A, B)
    await flush()
    expect(a.hurried).toEqual([B])
    expect(network.opened).toHaveLength(1)
    a.give(B, 1)
    await flush()
    expect(b.injected).toBe(2 * BATCH_BYTES)
    expect(b.restarted).toEqual([A])
  })

  it('that are reset as soon as they come are not opened again and again', async () => {
    b.refuseAll = true
    a.give(B, 1000)
    for (let step = 0; step < 100; step++) {
      await a.clock.advance(100)
      await flush()
      network.opened.at(-1)?.pair.far.abort(new Error('no'))
      await flush()
    }
    expect(network.opened.length).toBeGreaterThan(2)
    expect(network.opened.length).toBeLessThan(10)
    expect(STREAM_RETRY.leastMs).toBe(200)
  })

  it('that end while they take a batch are opened again for the next', async () => {
    a.cutsNext = true
    a.give(B, 3)
    await flush()
    expect(live()).toHaveLength(0)
    await a.clock.advance(STREAM_RETRY.leastMs * 2)
    await flush()
    expect(b.injected).toBe(2 * BATCH_BYTES)
    expect(a.left(B)).toBe(0)
  })

  it('that take nothing for half a minute are given up for new ones', async () => {
    a.give(B, 1)
    await flush()
    network.opened[0]?.pair.far.pause()
    a.give(B, 100)
    await flush()
    await a.clock.advance(STREAM_STALL_MS + STREAM_SWEEP_MS)
    await flush()
    expect(live()).toHaveLength(1)
    expect(network.opened).toHaveLength(2)
    expect(a.streams.lastErrorOf(B)).toMatchObject({ code: 'vpn.timeout' })
    expect(b.injected).toBeGreaterThan(BATCH_BYTES)
  })

  it('are closed after five minutes without packets', async () => {
    a.give(B, 1)
    await flush()
    await a.clock.advance(STREAM_IDLE_MS - STREAM_SWEEP_MS)
    expect(live()).toHaveLength(1)
    await a.clock.advance(2 * STREAM_SWEEP_MS)
    await flush()
    expect(live()).toEqual([])
    expect(a.hurried).toEqual([])
    a.give(B, 1)
    await flush()
    expect(b.injected).toBe(2 * BATCH_BYTES)
  })

  it('of a relay are read to their end before the direct one, but not for ever', async () => {
    network.connect(A, B, 'relayed')
    a.give(B, 1)
    await flush()
    b.hasRoom = false
    a.give(B, 2)
    await flush()
    network.connect(A, B, 'direct')
    a.streams.reach(B)
    await flush()
    expect(b.streams.streamsOf(A).inboundDirect).toBe(false)
    b.hasRoom = true
    b.streams.writable(A)
    await flush()
    expect(b.streams.streamsOf(A).inboundDirect).toBe(true)
    expect(b.injected).toBe(3 * BATCH_BYTES)
    expect(live().map(({ pair }) => pair.near.direct)).toEqual([true])
  })

  it('of a relay that bring nothing more give way to the direct one', async () => {
    network.connect(A, B, 'relayed')
    a.give(B, 1)
    await flush()
    network.opened[0]?.pair.far.pause()
    a.give(B, 2)
    await flush()
    network.connect(A, B, 'direct')
    a.streams.reach(B)
    await flush()
    expect(b.streams.streamsOf(A).inboundDirect).toBe(false)
    await b.clock.advance(STREAM_MOVE_MS)
    expect(b.streams.streamsOf(A).inboundDirect).toBe(true)
    expect(b.restarted).toEqual([A])
  })

  it('that come before their key are kept unread, for ten seconds', async () => {
    b.ready.clear()
    a.give(B, 1)
    await flush()
    expect(b.injected).toBe(0)
    b.ready.add(A)
    b.streams.ready(A)
    await flush()
    expect(b.injected).toBe(BATCH_BYTES)
    a.streams.forget(B)
    b.streams.forget(A)
    b.ready.clear()
    await flush()
    a.give(B, 1)
    await flush()
    await b.clock.advance(STREAM_HELD_MS)
    await flush()
    expect(b.refusals.counts()).toEqual({ 'packets.not_ready': 1 })
    expect(live()).toEqual([])
  })

  it('that are kept so are bounded in number', async () => {
    b.ready.clear()
    for (let number = 0; number < HELD_STREAMS.all + 20; number++) {
      const stranger = network.join(peerOf(1000 + number))
      await stranger.network.streams.open(B, PACKETS_PROTOCOL, { from: 'proven', relayed: true })
    }
    await flush()
    expect(b.refusals.counts()).toEqual({ 'packets.not_ready': 20 })
    expect(live()).toHaveLength(HELD_STREAMS.all)
  })

  it('are told while packets go and nothing comes, and when something does', async () => {
    a.give(B, 1)
    await flush()
    b.give(A, 1)
    await flush()
    await a.clock.advance(60_000)
    expect(a.doubts).toEqual([])
    a.give(B, 1)
    await flush()
    await a.clock.advance(STREAM_UNANSWERED_MS + STREAM_SWEEP_MS)
    expect(a.doubts).toEqual([`unanswered ${B}`])
    // once for what went once: the answer may have come another way
    await a.clock.advance(60_000)
    expect(a.doubts).toEqual([`unanswered ${B}`])
    a.give(B, 1)
    await flush()
    await a.clock.advance(STREAM_UNANSWERED_AGAIN_MS - STREAM_SWEEP_MS)
    expect(a.doubts).toHaveLength(1)
    await a.clock.advance(2 * STREAM_SWEEP_MS)
    expect(a.doubts.splice(0)).toEqual([`unanswered ${B}`, `unanswered ${B}`])
    b.give(A, 1)
    await flush()
    await a.clock.advance(60_000)
    expect(a.doubts).toEqual([`answered ${B}`])
  })

  it('leave no timer and no stream behind', async () => {
    a.give(B, 5)
    b.give(A, 5)
    await flush()
    for (const end of [a, b]) end.streams.stop()
    await flush()
    expect(live()).toEqual([])
    expect([a.clock.pending, b.clock.pending]).toEqual([0, 0])
    a.give(B, 1)
    await flush()
    expect(live()).toEqual([])
  })
})

type End = Awaited<ReturnType<typeof createEnd>>

/** Streams over an engine that only counts. */
async function createEnd(peer: PeerId) {
  const member: MemoryMember = network.join(peer)
  const clock = createManualClock()
  const queues = new Map<PeerId, number>()
  const refusals = createRefusalCounter(silentLogger)
  const end = {
    clock,
    refusals,
    injected: 0,
    hasRoom: true,
    refuseAll: false,
    /** The next stream that this end opens breaks at the first batch. */
    cutsNext: false,
    failures: 0,
    doubts: [] as string[],
    hurried: [] as PeerId[],
    restarted: [] as PeerId[],
    ready: new Set([A, B]),
    streams: undefined as unknown as PacketStreams,
    /** As if the engine had so many more batches for the peer. */
    give(to: PeerId, batches: number) {
      queues.set(to, end.left(to) + batches)
      end.streams.readable(to)
    },
    left: (to: PeerId) => queues.get(to) ?? 0,
  }
  const { streams } = member.network
  const open: typeof streams.open = async (...args) => {
    const stream = await streams.open(...args)
    if (!end.cutsNext) return stream
    end.cutsNext = false
    let onEnd = (_error: Error | undefined) => {}
    const send = () => {
      onEnd(new Error('cut'))
      stream.abort(new Error('cut'))
      return false
    }
    return { ...stream, send, onEnd: (listener) => (onEnd = listener) }
  }
  end.streams = new PacketStreams({
    network: { ...member.network, streams: { ...streams, open } },
    clock,
    random: createSeededRandom(1),
    log: silentLogger,
    refusals,
    isReady: (other) => end.ready.has(other),
    onOpenFailed: () => end.failures++,
    onUnanswered: (other) => void end.doubts.push(`unanswered ${other}`),
    onAnswered: (other) => void end.doubts.push(`answered ${other}`),
    engine: {
      take(to) {
        if (end.left(to) === 0) return undefined
        queues.set(to, end.left(to) - 1)
        return new Uint8Array(BATCH_BYTES)
      },
      inject(_, bytes) {
        end.injected += bytes.length
        return end.hasRoom
      },
      restart: (other) => void end.restarted.push(other),
      retryHandshake: (other) => void end.hurried.push(other),
    },
  })
  await end.streams.start()
  return end
}

function live() {
  return network.opened.filter(({ pair }) => !pair.ended)
}

/** Until the streams have delivered what they can. */
async function flush(): Promise<void> {
  for (let round = 0; round < 12; round++) await new Promise((resolve) => setImmediate(resolve))
}

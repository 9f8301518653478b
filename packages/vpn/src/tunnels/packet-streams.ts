/**
 * `/mesh/packets/1`: sealed frames between the engine and peers (docs/PROTOCOLS.md, 'VPN'). Who has packets opens a
 * stream and only writes to it; the other end only reads. Peers share nothing but the engine's threads, so one that
 * does not read costs the others nothing, and itself what waits in the engine (256 KiB) and in its stream.
 */
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream, VpnNetwork } from '../ports.ts'
import { createInboundStream, type InboundStream } from './inbound-stream.ts'
import {
  MAX_HELD_STREAMS,
  MAX_NEW_STREAMS,
  NEW_STREAM_EVERY_MS,
  PACKET_STREAMS_PER_PEER,
  PACKETS_PROTOCOL,
  STREAM_HELD_MS,
  STREAM_SWEEP_MS,
} from './limits.ts'
import { createOutboundStream, type OutboundStream } from './outbound-stream.ts'
import type { Refusal, RefusalCounter } from './refusals.ts'

export interface PacketStreamsComponents {
  readonly engine: Pick<Engine, 'take' | 'inject' | 'restart' | 'retryHandshake'>
  readonly network: Pick<VpnNetwork, 'streams' | 'pathOf'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly refusals: RefusalCounter
  /** The engine's table has the peer's key. */
  readonly isReady: (peer: PeerId) => boolean
  /** No stream could be opened to the peer. */
  readonly onOpenFailed: (peer: PeerId) => void
}

/** Streams of one peer: false over a relay. */
export interface OpenStreams {
  readonly outboundDirect: boolean | undefined
  readonly inboundDirect: boolean | undefined
}

export interface PacketStreams {
  start(): Promise<void>
  /** The engine's events of these names. */
  readable(peer: PeerId): void
  writable(peer: PeerId): void
  broken(peer: PeerId): void
  /** The peer does not answer: its stream may lead nowhere. */
  silent(peer: PeerId): void
  /** A connection came, or changed. */
  reach(peer: PeerId): void
  /** `isReady` says yes from now on. */
  ready(peer: PeerId): void
  /** Ends the peer's streams. */
  forget(peer: PeerId): void
  streamsOf(peer: PeerId): OpenStreams
  lastErrorOf(peer: PeerId): Error | undefined
  stop(): void
}

interface Ends {
  readonly outbound: OutboundStream
  readonly inbound: InboundStream
  /** New streams that may come now, and since when that many. */
  allowed: number
  allowedAt: number
}

export function createPacketStreams(components: PacketStreamsComponents): PacketStreams {
  const { network, clock, refusals, isReady } = components
  const ends = new Map<PeerId, Ends>()
  const held = new Map<PeerId, { readonly stream: ByteStream; readonly cancel: () => void }>()
  let stopped = false
  let cancelSweep = () => {}

  function endsOf(peer: PeerId): Ends {
    const known = ends.get(peer)
    if (known !== undefined) return known
    const isDirect = () => network.pathOf(peer)?.path === 'direct'
    const onOpenFailed = () => components.onOpenFailed(peer)
    const parts = { ...components, streams: network.streams, isDirect, onOpenFailed }
    const made: Ends = {
      outbound: createOutboundStream(peer, parts),
      inbound: createInboundStream(peer, components),
      allowed: MAX_NEW_STREAMS,
      allowedAt: clock.now(),
    }
    ends.set(peer, made)
    return made
  }

  function onStream(stream: ByteStream): void {
    const { peer } = stream
    if (stopped) return stream.abort(new Error('the VPN has stopped'))
    stream.onEnd(() => {
      if (held.get(peer)?.stream === stream) release(peer)
      ends.get(peer)?.inbound.ended(stream)
    })
    if (isReady(peer)) accept(stream)
    else hold(stream)
  }

  function accept(stream: ByteStream): void {
    const of = endsOf(stream.peer)
    if (mayCome(of)) of.inbound.accept(stream)
    else refuse(stream, 'packets.too_many')
  }

  function mayCome(of: Ends): boolean {
    const now = clock.now()
    const more = Math.floor((now - of.allowedAt) / NEW_STREAM_EVERY_MS)
    of.allowedAt += more * NEW_STREAM_EVERY_MS
    of.allowed = Math.min(MAX_NEW_STREAMS, of.allowed + more)
    if (of.allowed === 0) return false
    of.allowed--
    return true
  }

  /** Unread, so that it costs no more than the stream's window. */
  function hold(stream: ByteStream): void {
    const { peer } = stream
    release(peer)?.abort(new Error('a newer stream took its place'))
    if (held.size >= MAX_HELD_STREAMS) return refuse(stream, 'packets.not_ready')
    const cancel = clock.after(STREAM_HELD_MS, () => {
      release(peer)
      refuse(stream, 'packets.not_ready')
    })
    held.set(peer, { stream, cancel })
  }

  function release(peer: PeerId): ByteStream | undefined {
    const found = held.get(peer)
    found?.cancel()
    held.delete(peer)
    return found?.stream
  }

  function refuse(stream: ByteStream, code: Refusal): void {
    refusals.refuse(code, stream.peer)
    stream.abort(new Error(code))
  }

  function forget(peer: PeerId): void {
    const reason = new Error('the peer has no such stream any more')
    release(peer)?.abort(reason)
    ends.get(peer)?.outbound.stop()
    ends.get(peer)?.inbound.reset(reason)
    ends.delete(peer)
  }

  function sweep(): void {
    for (const { outbound } of ends.values()) outbound.sweep()
    cancelSweep = clock.after(STREAM_SWEEP_MS, sweep)
  }

  return {
    async start() {
      const options = { from: 'proven', maxPerPeer: PACKET_STREAMS_PER_PEER, relayed: true } as const
      await network.streams.handle(PACKETS_PROTOCOL, options, onStream)
      cancelSweep = clock.after(STREAM_SWEEP_MS, sweep)
    },
    readable(peer) {
      if (!stopped) endsOf(peer).outbound.readable()
    },
    writable: (peer) => ends.get(peer)?.inbound.writable(),
    broken(peer) {
      const inbound = ends.get(peer)?.inbound
      if (inbound?.direct === undefined) return
      refusals.refuse('packets.broken', peer)
      inbound.reset(new Error('packets.broken'))
    },
    silent: (peer) => ends.get(peer)?.outbound.reset(new Error('the peer does not answer')),
    reach: (peer) => ends.get(peer)?.outbound.reach(),
    ready(peer) {
      const stream = release(peer)
      if (stream !== undefined && !stopped) accept(stream)
      ends.get(peer)?.inbound.writable()
    },
    forget,
    streamsOf(peer) {
      const open = ends.get(peer)
      return { outboundDirect: open?.outbound.direct, inboundDirect: open?.inbound.direct }
    },
    lastErrorOf: (peer) => ends.get(peer)?.outbound.lastError,
    stop() {
      stopped = true
      cancelSweep()
      for (const peer of [...held.keys(), ...ends.keys()]) forget(peer)
    },
  }
}

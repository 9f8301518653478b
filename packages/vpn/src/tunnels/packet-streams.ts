/**
 * `/mesh/packets/1`: sealed frames between the engine and peers (docs/PROTOCOLS.md, 'VPN'). Who has packets opens a
 * stream and only writes to it; the other end only reads. Peers share nothing but the engine's threads, so one that
 * does not read costs the others nothing, and itself what waits in the engine (256 KiB) and in its stream.
 */
import { type PeerId } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import type { Engine } from '@mesh/engine'
import type { ByteStream, VpnNetwork } from '../ports.ts'
import { HeldStreams } from './held-streams.ts'
import { createInboundStream, type InboundStream } from './inbound-stream.ts'
import {
  MAX_NEW_STREAMS,
  NEW_STREAM_EVERY_MS,
  PACKET_STREAMS_PER_PEER,
  PACKETS_PROTOCOL,
  STREAM_SWEEP_MS,
  STREAM_UNANSWERED_AGAIN_MS,
  STREAM_UNANSWERED_MS,
} from './limits.ts'
import { OutboundStream } from './outbound-stream.ts'
import type { Refusal, RefusalCounter } from '../streams/refusals.ts'
import type { VpnComponents } from '../vpn.ts'

interface PacketStreamsComponents extends Pick<VpnComponents, 'clock' | 'random' | 'log'> {
  readonly engine: Pick<Engine, 'take' | 'inject' | 'restart' | 'retryHandshake'>
  readonly network: Pick<VpnNetwork, 'streams' | 'pathOf' | 'addressOf'>
  readonly refusals: RefusalCounter
  /** True when the engine's table has the peer's key. */
  readonly isReady: (peer: PeerId) => boolean
  /** Called when no stream could be opened to the peer. */
  readonly onOpenFailed: (peer: PeerId) => void
  /** Called again and again while packets go to the peer and nothing comes by its streams. */
  readonly onUnanswered: (peer: PeerId) => void
  /** Called when something comes again. */
  readonly onAnswered: (peer: PeerId) => void
}

/** True when the streams of one peer are direct: false over a relay, undefined where none is open. */
export interface OpenStreams {
  readonly outboundDirect: boolean | undefined
  readonly inboundDirect: boolean | undefined
}

/** Both directions of one peer. */
interface PeerStreams {
  readonly outbound: OutboundStream
  readonly inbound: InboundStream
  /** How many new streams may come. */
  readonly newStreams: TokenBucket
  /** The time from which packets go to the peer and nothing comes; undefined: something came, nothing goes, or it was told. */
  unansweredSince: number | undefined
  /** It was told that nothing comes, and nothing came since. */
  isTold: boolean
}

export class PacketStreams {
  readonly #components: PacketStreamsComponents
  readonly #peers = new Map<PeerId, PeerStreams>()
  readonly #held: HeldStreams
  #stopped = false
  #cancelSweep = () => {}

  constructor(components: PacketStreamsComponents) {
    this.#components = components
    const { clock, network } = components
    this.#held = new HeldStreams({
      clock,
      addressOf: (peer) => network.addressOf?.(peer),
      onRefused: (stream) => this.#refuse(stream, 'packets.not_ready'),
    })
  }

  async start(): Promise<void> {
    const options = { from: 'proven', maxPerPeer: PACKET_STREAMS_PER_PEER, relayed: true } as const
    const { streams } = this.#components.network
    await streams.handle(PACKETS_PROTOCOL, options, (stream) => this.#onStream(stream))
    this.#sweepLater()
  }

  /** The engine's event `readable`. */
  readable(peer: PeerId): void {
    if (!this.#stopped) this.#of(peer).outbound.readable()
  }

  /** The engine's event `writable`. */
  writable(peer: PeerId): void {
    this.#peers.get(peer)?.inbound.writable()
  }

  /** The engine's event `broken`. */
  broken(peer: PeerId): void {
    const inbound = this.#peers.get(peer)?.inbound
    if (inbound?.direct === undefined) return
    this.#components.refusals.refuse('packets.broken', peer)
    inbound.reset(new Error('packets.broken'))
  }

  /** The engine's event `silent`: the peer's stream may lead nowhere. */
  silent(peer: PeerId): void {
    this.#peers.get(peer)?.outbound.reset(new Error('the peer does not answer'))
  }

  /** Tells that a connection came, or changed. */
  reach(peer: PeerId): void {
    this.#peers.get(peer)?.outbound.reach()
  }

  /** Tells that `isReady` says yes from now on. */
  ready(peer: PeerId): void {
    const stream = this.#held.release(peer)
    if (stream !== undefined && !this.#stopped) this.#accept(stream)
    this.#peers.get(peer)?.inbound.writable()
  }

  /** Ends the peer's streams. */
  forget(peer: PeerId): void {
    const reason = new Error('the peer has no such stream any more')
    this.#held.release(peer)?.abort(reason)
    const streams = this.#peers.get(peer)
    streams?.outbound.stop()
    streams?.inbound.reset(reason)
    this.#peers.delete(peer)
  }

  streamsOf(peer: PeerId): OpenStreams {
    const streams = this.#peers.get(peer)
    return { outboundDirect: streams?.outbound.direct, inboundDirect: streams?.inbound.direct }
  }

  lastErrorOf(peer: PeerId): Error | undefined {
    return this.#peers.get(peer)?.outbound.lastError
  }

  stop(): void {
    this.#stopped = true
    this.#cancelSweep()
    for (const peer of [...this.#held.peers(), ...this.#peers.keys()]) this.forget(peer)
  }

  #of(peer: PeerId): PeerStreams {
    const known = this.#peers.get(peer)
    if (known !== undefined) return known
    const { network, clock, onAnswered } = this.#components
    const outbound = new OutboundStream(peer, {
      ...this.#components,
      streams: network.streams,
      isDirect: () => network.pathOf(peer)?.path === 'direct',
      onSend: () => (made.unansweredSince ??= clock.monotonic()),
      onOpenFailed: () => this.#components.onOpenFailed(peer),
    })
    const onBytes = () => {
      made.unansweredSince = outbound.isWaiting ? clock.monotonic() : undefined
      if (!made.isTold) return
      made.isTold = false
      onAnswered(peer)
    }
    const made: PeerStreams = {
      outbound,
      inbound: createInboundStream(peer, { ...this.#components, onBytes }),
      newStreams: createTokenBucket({ perSecond: 1000 / NEW_STREAM_EVERY_MS, burst: MAX_NEW_STREAMS }, clock),
      unansweredSince: undefined,
      isTold: false,
    }
    this.#peers.set(peer, made)
    return made
  }

  #onStream(stream: ByteStream): void {
    const { peer } = stream
    if (this.#stopped) return stream.abort(new Error('the VPN has stopped'))
    stream.onEnd(() => {
      this.#held.ended(stream)
      this.#peers.get(peer)?.inbound.ended(stream)
    })
    if (this.#components.isReady(peer)) this.#accept(stream)
    else this.#held.hold(stream)
  }

  #accept(stream: ByteStream): void {
    const { inbound, newStreams } = this.#of(stream.peer)
    if (newStreams.take()) inbound.accept(stream)
    else this.#refuse(stream, 'packets.too_many')
  }

  #refuse(stream: ByteStream, code: Refusal): void {
    this.#components.refusals.refuse(code, stream.peer)
    stream.abort(new Error(code))
  }

  #sweepLater(): void {
    const { clock, onUnanswered } = this.#components
    this.#cancelSweep = clock.after(STREAM_SWEEP_MS, () => {
      const now = clock.monotonic()
      for (const [peer, streams] of this.#peers) {
        const { outbound, unansweredSince, isTold } = streams
        outbound.sweep()
        const patienceMs = isTold ? STREAM_UNANSWERED_AGAIN_MS : STREAM_UNANSWERED_MS
        if (unansweredSince === undefined || now - unansweredSince < patienceMs) continue
        // told again when packets go on and nothing comes
        streams.unansweredSince = outbound.isWaiting ? now : undefined
        streams.isTold = true
        onUnanswered(peer)
      }
      this.#sweepLater()
    })
  }
}

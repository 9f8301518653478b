/**
 * `/edgevpn/0.1`: packets from and to members of older networks (docs/WIRE.md 5.1). They come unsealed on streams
 * that libp2p sealed and signed; the engine's filter checks their sources. Never for a peer that speaks `/mesh/vpn/1`.
 */
import type { Clock, PeerId, Random } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream, VpnNetwork } from '../ports.ts'
import {
  MAX_UNFINISHED_BYTES_PER_PEER,
  MAX_UNFINISHED_BYTES,
  MAX_STREAM_BYTES,
  MAX_STREAMS_OUT,
  LEGACY_PROTOCOL,
  STREAM_MS,
  STREAMS_IN_PER_PEER,
} from './limits.ts'
import { createPacketGatherer } from './split-packets.ts'
import { createPacketSender, type PacketSender } from './packet-sender.ts'
import type { Refusal, RefusalCounter } from '../tunnels/refusals.ts'

export interface LegacyTunnelsComponents {
  readonly engine: Pick<Engine, 'take' | 'injectPackets'>
  readonly network: Pick<VpnNetwork, 'streams' | 'pathOf'>
  readonly clock: Clock
  readonly random: Random
  readonly refusals: RefusalCounter
  /** Why no plain packets of the peer are taken; undefined: the engine's table has it as plain. */
  readonly refusal: (peer: PeerId) => Refusal | undefined
  /** Connects, and sees whether the peer still is one for plain packets; else rejects. */
  readonly prepare: (peer: PeerId, signal: AbortSignal) => Promise<void>
}

export interface LegacyTunnels {
  start(): Promise<void>
  /** The engine's event. */
  readable(peer: PeerId): void
  /** A connection came, or changed. */
  reach(peer: PeerId): void
  /** Sends the peer nothing any more. */
  forget(peer: PeerId): void
  /** Streams open to the peer, and packets whose streams were refused or broke. */
  sentTo(peer: PeerId): {
    readonly open: number
    readonly lost: number
    readonly lastError: Error | undefined
  }
  stop(): void
}

export function createLegacyTunnels(components: LegacyTunnelsComponents): LegacyTunnels {
  const { engine, network, clock, refusals } = components
  const senders = new Map<PeerId, PacketSender>()
  /** Found no room among the streams of all peers. */
  const waiting = new Set<PacketSender>()
  const reading = new Set<ByteStream>()
  const held = createHeldBytes()
  let open = 0
  let stopped = false

  function senderOf(peer: PeerId): PacketSender {
    const known = senders.get(peer)
    if (known !== undefined) return known
    const sender: PacketSender = createPacketSender(peer, {
      ...components,
      streams: network.streams,
      isDirect: () => network.pathOf(peer)?.path === 'direct',
      prepare: (signal) => components.prepare(peer, signal),
      acquire() {
        if (open < MAX_STREAMS_OUT) return ++open > 0
        waiting.add(sender)
        return false
      },
      release() {
        open--
        const [next] = waiting
        if (next === undefined) return
        waiting.delete(next)
        queueMicrotask(next.readable)
      },
    })
    senders.set(peer, sender)
    return sender
  }

  function onStream(stream: ByteStream): void {
    const { peer } = stream
    if (stopped) return stream.abort(new Error('the VPN has stopped'))
    const code = components.refusal(peer)
    if (code !== undefined) return refuse(stream, code)
    read(stream)
  }

  /** Until the stream ends: whole packets go to the engine at once, the beginning of one is kept. */
  function read(stream: ByteStream): void {
    const { peer } = stream
    let bytes = 0
    let heldHere = 0
    const gatherer = createPacketGatherer((packets) => {
      if (components.refusal(peer) === undefined) engine.injectPackets(peer, packets)
    })
    const finish = (code?: Refusal) => {
      if (!reading.delete(stream)) return
      cancel()
      held.add(peer, -heldHere)
      if (code !== undefined) refuse(stream, code)
    }
    const cancel = clock.after(STREAM_MS, () => finish('legacy.unfinished'))
    reading.add(stream)
    stream.onEnd(() => {
      if (gatherer.held > 0 && reading.has(stream)) refusals.refuse('legacy.unfinished', peer)
      finish()
    })
    stream.onBytes((chunk) => {
      if (!reading.has(stream)) return
      bytes += chunk.length
      if (bytes > MAX_STREAM_BYTES) return finish('legacy.too_long')
      if (!gatherer.push(chunk)) return finish('legacy.bad_packet')
      const more = gatherer.held - heldHere
      heldHere = gatherer.held
      if (!held.add(peer, more)) finish('legacy.too_long')
    })
  }

  function refuse(stream: ByteStream, code: Refusal): void {
    refusals.refuse(code, stream.peer)
    stream.abort(new Error(code))
  }

  function forget(peer: PeerId): void {
    const sender = senders.get(peer)
    if (sender === undefined) return
    sender.stop()
    senders.delete(peer)
    waiting.delete(sender)
  }

  return {
    async start() {
      const options = { from: 'heard', maxPerPeer: STREAMS_IN_PER_PEER, relayed: false } as const
      await network.streams.handle(LEGACY_PROTOCOL, options, onStream)
    },
    readable(peer) {
      if (!stopped) senderOf(peer).readable()
    },
    reach: (peer) => senders.get(peer)?.reach(),
    forget,
    sentTo(peer) {
      const sender = senders.get(peer)
      return { open: sender?.open ?? 0, lost: sender?.lost ?? 0, lastError: sender?.lastError }
    },
    stop() {
      stopped = true
      for (const peer of senders.keys()) forget(peer)
      for (const stream of reading) stream.abort(new Error('the VPN stops'))
    },
  }
}

/** Bytes that beginnings of packets take, by peer. */
function createHeldBytes() {
  const byPeer = new Map<PeerId, number>()
  let total = 0
  return {
    /** False: more than the bounds allow; it is counted all the same. */
    add(peer: PeerId, bytes: number): boolean {
      if (bytes === 0) return true
      const sum = (byPeer.get(peer) ?? 0) + bytes
      if (sum === 0) byPeer.delete(peer)
      else byPeer.set(peer, sum)
      total += bytes
      return sum <= MAX_UNFINISHED_BYTES_PER_PEER && total <= MAX_UNFINISHED_BYTES
    },
  }
}

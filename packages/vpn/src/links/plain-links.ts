/**
 * `/edgevpn/0.1`: packets from and to members of older networks (wire document, 5.1). They come unsealed on streams
 * that libp2p sealed and signed; the engine's filter checks their sources. Never for a peer that speaks `/mesh/vpn/1`.
 */
import type { Clock, PeerId, Random } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { ByteStream, VpnNetwork } from '../ports.ts'
import {
  MAX_PLAIN_HELD_BYTES,
  MAX_PLAIN_HELD_TOTAL_BYTES,
  MAX_PLAIN_STREAM_BYTES,
  MAX_PLAIN_STREAMS_OUT,
  PLAIN_PROTOCOL,
  PLAIN_STREAM_MS,
  PLAIN_STREAMS_IN,
} from './limits.ts'
import { createPacketGatherer } from './plain-packets.ts'
import { createPlainSender, type PlainSender } from './plain-sender.ts'
import type { LinkRefusal, LinkRefusals } from './refusals.ts'

export interface PlainLinksComponents {
  readonly engine: Pick<Engine, 'take' | 'injectPlain'>
  readonly network: Pick<VpnNetwork, 'streams' | 'pathOf'>
  readonly clock: Clock
  readonly random: Random
  readonly refusals: LinkRefusals
  /** Why no plain packets of the peer are taken; undefined: the engine's table has it as plain. */
  readonly refusal: (peer: PeerId) => LinkRefusal | undefined
  /** Connects, and sees whether the peer still is one for plain packets; else rejects. */
  readonly prepare: (peer: PeerId, signal: AbortSignal) => Promise<void>
}

export interface PlainLinks {
  start(): Promise<void>
  /** The engine's event. */
  carry(peer: PeerId): void
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

export function createPlainLinks(components: PlainLinksComponents): PlainLinks {
  const { engine, network, clock, refusals } = components
  const senders = new Map<PeerId, PlainSender>()
  /** Found no room among the streams of all peers. */
  const waiting = new Set<PlainSender>()
  const reading = new Set<ByteStream>()
  const held = createHeldBytes()
  let open = 0
  let stopped = false

  function senderOf(peer: PeerId): PlainSender {
    const known = senders.get(peer)
    if (known !== undefined) return known
    const sender: PlainSender = createPlainSender(peer, {
      ...components,
      streams: network.streams,
      isDirect: () => network.pathOf(peer)?.path === 'direct',
      prepare: (signal) => components.prepare(peer, signal),
      acquire() {
        if (open < MAX_PLAIN_STREAMS_OUT) return ++open > 0
        waiting.add(sender)
        return false
      },
      release() {
        open--
        const [next] = waiting
        if (next === undefined) return
        waiting.delete(next)
        queueMicrotask(next.carry)
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
      if (components.refusal(peer) === undefined) engine.injectPlain(peer, packets)
    })
    const finish = (code?: LinkRefusal) => {
      if (!reading.delete(stream)) return
      cancel()
      held.add(peer, -heldHere)
      if (code !== undefined) refuse(stream, code)
    }
    const cancel = clock.after(PLAIN_STREAM_MS, () => finish('plain.unfinished'))
    reading.add(stream)
    stream.onEnd(() => {
      if (gatherer.held > 0 && reading.has(stream)) refusals.refuse('plain.unfinished', peer)
      finish()
    })
    stream.onBytes((chunk) => {
      if (!reading.has(stream)) return
      bytes += chunk.length
      if (bytes > MAX_PLAIN_STREAM_BYTES) return finish('plain.too_long')
      if (!gatherer.push(chunk)) return finish('plain.bad_packet')
      const more = gatherer.held - heldHere
      heldHere = gatherer.held
      if (!held.add(peer, more)) finish('plain.too_long')
    })
  }

  function refuse(stream: ByteStream, code: LinkRefusal): void {
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
      const options = { from: 'heard', maxPerPeer: PLAIN_STREAMS_IN, relayed: false } as const
      await network.streams.handle(PLAIN_PROTOCOL, options, onStream)
    },
    carry(peer) {
      if (!stopped) senderOf(peer).carry()
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
      return sum <= MAX_PLAIN_HELD_BYTES && total <= MAX_PLAIN_HELD_TOTAL_BYTES
    },
  }
}

/**
 * `/edgevpn/0.1`: packets from and to legacy members (docs/WIRE.md 5.1). They come unsealed on streams that libp2p
 * sealed and signed; the engine's filter checks their sources. Never for a peer that speaks `/mesh/vpn/1`.
 */
import type { PeerId } from '@mesh/core'
import type { Engine } from '@mesh/engine'
import type { VpnNetwork } from '../ports.ts'
import type { Refusal, RefusalCounter } from '../streams/refusals.ts'
import { LEGACY_PROTOCOL, MAX_STREAMS_OUT, STREAMS_IN_PER_PEER } from './limits.ts'
import { PacketReceiver } from './packet-receiver.ts'
import { PacketSender } from './packet-sender.ts'
import type { VpnComponents } from '../vpn.ts'

interface LegacyTunnelsComponents extends Pick<VpnComponents, 'clock' | 'random'> {
  readonly engine: Pick<Engine, 'take' | 'injectPackets'>
  readonly network: Pick<VpnNetwork, 'streams' | 'pathOf' | 'speaks'>
  readonly refusals: RefusalCounter
  /** Why no unsealed packets of the peer are taken; undefined: the engine's table has it as a legacy member. */
  readonly refusal: (peer: PeerId) => Refusal | undefined
  /** Connects, and rejects unless the peer is a legacy member still. */
  readonly prepare: (peer: PeerId, signal: AbortSignal) => Promise<void>
}

export class LegacyTunnels {
  readonly #components: LegacyTunnelsComponents
  readonly #senders = new Map<PeerId, PacketSender>()
  /** Those that could acquire none of the streams to all peers. */
  readonly #waiting = new Set<PacketSender>()
  readonly #receiver: PacketReceiver
  /** Number of streams that are open to all peers together. */
  #open = 0
  #stopped = false

  constructor(components: LegacyTunnelsComponents) {
    this.#components = components
    this.#receiver = new PacketReceiver(components)
  }

  /** Serves the protocol, where this node takes part in it. */
  async start(): Promise<void> {
    const options = { from: 'heard', maxPerPeer: STREAMS_IN_PER_PEER, relayed: false } as const
    await this.#components.network.streams.handle(LEGACY_PROTOCOL, options, (stream) => {
      if (this.#stopped) stream.abort(new Error('the VPN has stopped'))
      else this.#receiver.read(stream)
    })
  }

  /** True when this node takes part in the protocol and the peer says that it speaks it. */
  speaks(peer: PeerId): boolean {
    return this.#components.network.speaks(peer, LEGACY_PROTOCOL) === true
  }

  /** The engine's event `readable`. */
  readable(peer: PeerId): void {
    if (!this.#stopped) this.#senderOf(peer).readable()
  }

  /** Tells that a connection came, or changed. */
  reach(peer: PeerId): void {
    this.#senders.get(peer)?.reach()
  }

  /** Sends the peer nothing any more. */
  forget(peer: PeerId): void {
    const sender = this.#senders.get(peer)
    if (sender === undefined) return
    sender.stop()
    this.#senders.delete(peer)
    this.#waiting.delete(sender)
  }

  /** Number of streams open to the peer, and of packets whose streams were refused or broke. */
  sentTo(peer: PeerId) {
    const sender = this.#senders.get(peer)
    return { open: sender?.open ?? 0, lastError: sender?.lastError }
  }

  stop(): void {
    this.#stopped = true
    for (const peer of this.#senders.keys()) this.forget(peer)
    this.#receiver.stop()
  }

  #senderOf(peer: PeerId): PacketSender {
    const known = this.#senders.get(peer)
    if (known !== undefined) return known
    const { network, prepare } = this.#components
    const sender: PacketSender = new PacketSender(peer, {
      ...this.#components,
      streams: network.streams,
      isDirect: () => network.pathOf(peer)?.path === 'direct',
      prepare: (signal) => prepare(peer, signal),
      acquire: () => this.#acquire(sender),
      release: () => this.#release(),
    })
    this.#senders.set(peer, sender)
    return sender
  }

  #acquire(sender: PacketSender): boolean {
    if (this.#open < MAX_STREAMS_OUT) return ++this.#open > 0
    this.#waiting.add(sender)
    return false
  }

  #release(): void {
    this.#open--
    const [next] = this.#waiting
    if (next === undefined) return
    this.#waiting.delete(next)
    queueMicrotask(() => next.readable())
  }
}

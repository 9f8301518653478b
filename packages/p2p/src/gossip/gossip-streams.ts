/**
 * Keeps one gossip stream to and one from each peer, whatever happens to streams and connections underneath.
 * Gossipsub repairs neither streams that a legacy node left when it rebuilt its gossip (docs/WIRE.md 3.3) nor those
 * that a second connection took over.
 *
 * 1. inbound streams are read here, with backpressure and one frame at a time (`inbound-streams.ts`)
 * 2. a second inbound stream says that the peer began anew: our subscriptions are told again, or, to legacy peers,
 *    our outbound stream is replaced
 * 3. a peer that is connected and has no outbound stream gets one, with growing waits (`outbound-streams.ts`)
 */
import type { Connection, Libp2p, PeerId, Stream } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import { STREAM_END_GRACE_MS } from '../legacy/limits.ts'
import { STREAM_REPAIR_MS } from './limits.ts'
import type { HeldBytes } from '../libp2p/held-bytes.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { type InboundStream, InboundStreams } from './inbound-streams.ts'
import { OutboundStreams } from './outbound-streams.ts'
import { TimerSet } from './timers.ts'

interface GossipStreamsInit {
  /** The longest gossip frame, in bytes. */
  readonly maxFrameBytes: number
}

interface GossipStreamsComponents {
  readonly libp2p: Libp2p
  readonly pubsub: GossipInternals
  readonly held: HeldBytes
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly refusals: Refusals
  readonly logger: Logger
}

export class GossipStreams {
  readonly #components: GossipStreamsComponents
  readonly #timers: TimerSet
  readonly #inbound: InboundStreams
  readonly #outbound: OutboundStreams
  readonly #removePeer: GossipInternals['removePeer']
  #isStopped = false

  constructor(init: GossipStreamsInit, components: GossipStreamsComponents) {
    const { pubsub, clock } = components
    this.#components = components
    this.#timers = new TimerSet(clock)
    this.#inbound = new InboundStreams(init, components)
    const logger = components.logger.child('gossip')
    this.#outbound = new OutboundStreams({ ...components, logger, timers: this.#timers })
    this.#removePeer = pubsub.removePeer.bind(pubsub)
  }

  /** Takes gossipsub's streams over; gossipsub itself may have started before or start later. */
  async start(): Promise<void> {
    const { libp2p, pubsub } = this.#components
    pubsub.onIncomingStream = this.#onIncomingStream
    pubsub.createOutboundStream = async (peerId, connection) => {
      if (!this.#isStopped) this.#outbound.open(peerId, connection)
    }
    pubsub.removePeer = (peerId) => this.#removeUnlessConnected(peerId)
    libp2p.addEventListener('connection:close', this.#onConnectionClose)
    if (!pubsub.isStarted()) return
    // gossipsub's handlers stand already, bound to what was there before
    const options = { force: true, runOnLimitedConnection: true } as const
    for (const protocol of pubsub.protocols) await libp2p.handle(protocol, this.#onIncomingStream, options)
    for (const connection of libp2p.getConnections()) {
      const stream = connection.streams.find(
        ({ direction, protocol }) => direction === 'inbound' && pubsub.protocols.includes(protocol),
      )
      if (stream !== undefined) this.#inbound.note(stream, connection)
      this.#checkLater(0, connection.remotePeer)
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#components.libp2p.removeEventListener('connection:close', this.#onConnectionClose)
    this.#timers.stop()
    this.#inbound.clear()
    this.#outbound.clear()
  }

  /** Looks at all peers, and opens the streams that are missing; to be called now and then. */
  checkAll(): void {
    if (this.#isStopped) return
    for (const { remotePeer } of this.#components.libp2p.getConnections()) this.#outbound.check(remotePeer)
  }

  readonly #onIncomingStream = (stream: Stream, connection: Connection): void => {
    const { pubsub } = this.#components
    if (this.#isStopped || !pubsub.isStarted()) return stream.abort(new Error('not started'))
    const peerId = connection.remotePeer
    pubsub.addPeer(peerId, connection.direction, connection.remoteAddr)
    const previous = this.#inbound.take(stream, connection)
    pubsub.outboundInflightQueue.push({ peerId, connection })
    if (previous === undefined) this.#outbound.followNewer(connection)
    else if (this.#isOurs(peerId)) {
      pubsub.sendSubscriptions(peerId.toString(), pubsub.getTopics(), true)
    } else this.#answerRestart(previous)
    this.#checkLater(STREAM_REPAIR_MS, peerId)
  }

  /**
   * Legacy nodes rebuild their gossip at each rotation of the keys, and leave our stream with nobody who reads it. Their new
   * stream is the sign to open ours anew, once it is known how the one before it ended.
   */
  #answerRestart(previous: InboundStream): void {
    let isAnswered = false
    const answer = () => {
      if (isAnswered) return
      isAnswered = true
      // a reset is how we and others replace a stream: answering it with another one would never end
      if (previous.end !== 'reset') this.#outbound.replace(previous.connection)
    }
    if (previous.end !== undefined) return answer()
    previous.onEnd = answer
    this.#timers.later(STREAM_END_GRACE_MS, answer)
  }

  readonly #onConnectionClose = ({ detail }: CustomEvent<Connection>): void => {
    this.#inbound.forget(detail)
    if (this.#outbound.openConnections(detail.remotePeer).length === 0) return
    this.#checkLater(0, detail.remotePeer)
    this.#checkLater(STREAM_REPAIR_MS, detail.remotePeer)
  }

  /** A broken stream or a late event must not make gossipsub forget a peer that is connected. */
  #removeUnlessConnected(peerId: PeerId): void {
    const isConnected = this.#outbound.openConnections(peerId).length > 0
    if (!this.#isStopped && isConnected) return this.#checkLater(0, peerId)
    this.#outbound.forget(peerId.toString())
    this.#removePeer(peerId)
  }

  #checkLater(delayMs: number, peerId: PeerId): void {
    this.#timers.later(delayMs, () => this.#outbound.check(peerId))
  }

  /** Mesh nodes never rebuild their gossip. */
  #isOurs(peerId: PeerId): boolean {
    return this.#components.spoken.speaks(peerId.toString(), MEMBER_PROTOCOL)
  }
}

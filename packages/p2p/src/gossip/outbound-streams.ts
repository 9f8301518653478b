/** The gossip streams that we open: one to each connected peer, opened again with growing waits when it ends. */
import type { Connection, Libp2p, PeerId, Stream } from '@libp2p/interface'
import type { Clock, Logger } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import {
  SLOW_GOSSIP_BYTES,
  STREAM_REPAIR_BACKOFF_MS,
  STREAM_REPAIR_MS,
  STREAM_REPLACE_MIN_MS,
} from './limits.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import type { GossipInternals } from '../upstream/gossipsub/internals.ts'
import { WaitingBytes } from '../waiting-bytes.ts'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { TimerSet } from './timers.ts'

/** The state of our outbound stream to one peer. */
interface Outbound {
  isOpening: boolean
  /** The connection that carries the open stream. */
  connection: Connection | undefined
  /** Failures in a row: the index into `STREAM_REPAIR_BACKOFF_MS`. */
  failures: number
  /** The next try comes no earlier than this time of the monotonic clock. */
  notBeforeMs: number
  replacedAtMs: number
}

interface OutboundStreamsComponents {
  readonly libp2p: Pick<Libp2p, 'getConnections'>
  readonly pubsub: GossipInternals
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly logger: Logger
  readonly timers: TimerSet
}

export class OutboundStreams {
  readonly #components: OutboundStreamsComponents
  readonly #createStream: GossipInternals['createOutboundStream']
  readonly #byPeer = new Map<string, Outbound>()
  readonly #slow = new Scope(SLOW_GOSSIP_BYTES)

  /** Made before gossipsub's own way of opening streams is replaced by `open`. */
  constructor(components: OutboundStreamsComponents) {
    this.#components = components
    this.#createStream = components.pubsub.createOutboundStream.bind(components.pubsub)
  }

  /** Opens a stream. Gossipsub opens them one after another; a peer that does not answer must not hold up the others. */
  open(peerId: PeerId, connection: Connection): void {
    const { pubsub } = this.#components
    const peer = peerId.toString()
    const state = this.#stateOf(peer)
    if (state.isOpening || pubsub.streamsOutbound.has(peer)) return
    state.isOpening = true
    void this.#createStream(peerId, connection).finally(() => {
      state.isOpening = false
      this.#onOpened(peerId, connection, state)
    })
  }

  /** Opens the outbound stream of a connected peer that has none, as soon as its wait is over. */
  check(peerId: PeerId): void {
    const { pubsub, clock, timers } = this.#components
    const peer = peerId.toString()
    if (!pubsub.isStarted() || !this.#speaksGossip(peer)) return
    const connections = this.openConnections(peerId)
    const connection = connections.find(({ direct }) => direct) ?? connections[0]
    if (connection === undefined) return
    const stream = pubsub.streamsOutbound.get(peer)
    if (stream !== undefined && stream.rawStream.status !== 'open') pubsub.streamsOutbound.delete(peer)
    const state = this.#stateOf(peer)
    if (pubsub.streamsOutbound.has(peer) || state.isOpening) return
    const waitMs = state.notBeforeMs - clock.monotonic()
    if (waitMs > 0) return timers.later(waitMs, () => this.check(peerId))
    pubsub.addPeer(peerId, connection.direction, connection.remoteAddr)
    pubsub.outboundInflightQueue.push({ peerId, connection })
  }

  /** Resets our stream to the peer of this connection and opens a new one on it, at most once a second. */
  replace(connection: Connection): void {
    const { pubsub, clock, logger } = this.#components
    const peer = connection.remotePeer.toString()
    const state = this.#stateOf(peer)
    const now = clock.monotonic()
    if (now - state.replacedAtMs < STREAM_REPLACE_MIN_MS) return
    state.replacedAtMs = now
    const old = pubsub.streamsOutbound.get(peer)
    pubsub.streamsOutbound.delete(peer)
    old?.rawStream.abort(new Error('replaced by a new gossip stream'))
    logger.debug('gossip stream replaced', { peer })
    pubsub.outboundInflightQueue.push({ peerId: connection.remotePeer, connection })
  }

  /** Moves to a newer connection on which the peer speaks: the one we use may be dead without having been told so. */
  followNewer(connection: Connection): void {
    const used = this.#byPeer.get(connection.remotePeer.toString())?.connection
    const isNewer = used !== undefined && used.timeline.open < connection.timeline.open
    if (isNewer && used.id !== connection.id) this.replace(connection)
  }

  openConnections(peerId: PeerId): readonly Connection[] {
    return this.#components.libp2p.getConnections(peerId).filter(({ status }) => status === 'open')
  }

  forget(peer: string): void {
    this.#byPeer.delete(peer)
  }

  clear(): void {
    this.#byPeer.clear()
  }

  #speaksGossip(peer: string): boolean {
    const { pubsub, spoken } = this.#components
    return pubsub.peers.has(peer) || pubsub.protocols.some((protocol) => spoken.speaks(peer, protocol))
  }

  #stateOf(peer: string): Outbound {
    const known = this.#byPeer.get(peer)
    if (known !== undefined) return known
    const state: Outbound = {
      isOpening: false,
      connection: undefined,
      failures: 0,
      notBeforeMs: 0,
      replacedAtMs: Number.NEGATIVE_INFINITY,
    }
    this.#byPeer.set(peer, state)
    return state
  }

  #onOpened(peerId: PeerId, connection: Connection, state: Outbound): void {
    const { pubsub, clock, timers } = this.#components
    const opened = pubsub.streamsOutbound.get(peerId.toString())
    if (opened === undefined) {
      const waitMs = this.#waitAfter(state, 'failed to open')
      return timers.later(waitMs, () => this.check(peerId))
    }
    state.connection = connection
    const slow = countSlow(opened, {
      peer: peerId.toString(),
      address: addressGroupOf(connection),
      scope: this.#slow,
    })
    const openedAtMs = clock.monotonic()
    const onClose = () => {
      slow.set(0)
      // a stream that lived for a while is opened again at once, one that died young after a wait
      if (clock.monotonic() - openedAtMs > STREAM_REPAIR_MS * 4) state.failures = 0
      this.#waitAfter(state, 'closed')
      timers.later(0, () => this.check(peerId))
    }
    if (opened.rawStream.status === 'open') {
      opened.rawStream.addEventListener('close', onClose, { once: true })
    } else onClose()
  }

  /** Sets the next wait: a failed try counts before it, a stream that closed after it. Gives the wait in ms. */
  #waitAfter(state: Outbound, event: 'failed to open' | 'closed'): number {
    const more = Math.min(state.failures + 1, STREAM_REPAIR_BACKOFF_MS.length - 1)
    const waitMs = STREAM_REPAIR_BACKOFF_MS[event === 'closed' ? state.failures : more] ?? 0
    state.failures = more
    state.notBeforeMs = this.#components.clock.monotonic() + waitMs
    return waitMs
  }
}

/** A stream to a peer, as gossipsub holds it. */
export interface GossipSender {
  readonly rawStream: Pick<Stream, 'writeBufferLength' | 'abort' | 'addEventListener'>
  pushPrefixed(frame: Uint8ArrayList): void
}

/** Counts what a peer has not read of earlier frames when a frame goes out to it. */
export function countSlow(
  sender: GossipSender,
  claim: { readonly peer: string; readonly address: string; readonly scope: Scope },
): WaitingBytes {
  const { rawStream } = sender
  const slow = new WaitingBytes({ ...claim, end: (reason) => rawStream.abort(reason) })
  const push = sender.pushPrefixed.bind(sender)
  sender.pushPrefixed = (frame) => {
    slow.set(rawStream.writeBufferLength)
    push(frame)
  }
  rawStream.addEventListener('idle', () => slow.set(0))
  return slow
}

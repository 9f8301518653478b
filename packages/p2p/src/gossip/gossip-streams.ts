/**
 * Keeps one gossip stream to and one from each peer, whatever happens to streams and connections underneath (docs/WIRE.md
 * 3.3). Legacy members rebuild their gossip at each rotation and leave our stream with nobody who
 * reads it; connections that were opened twice lose one; gossipsub repairs neither.
 *
 * 1. inbound streams are read here, with backpressure and one frame at a time
 * 2. a second inbound stream says that the peer began anew: our outbound one is replaced, or our subscriptions told
 *    again
 * 3. a peer that is connected and has no outbound stream gets one, with growing waits
 */
import type { Connection, Libp2p, PeerId, Stream } from '@libp2p/interface'
import { type Clock, type Logger, toError } from '@mesh/core'
import { FrameTooLongError, readFrames } from '../channels/frames.ts'
import {
  STREAM_END_GRACE_MS,
  STREAM_REPAIR_BACKOFF_MS,
  STREAM_REPAIR_MS,
  STREAM_REPLACE_MIN_MS,
} from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { MEMBER_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import type { GossipInternals } from '../upstream/gossipsub-internals.ts'
import { createHeldBytes, TooMuchHeldError } from './held-bytes.ts'

export interface GossipStreams {
  /** Takes gossipsub's streams over; before or after gossipsub itself started. */
  start(): Promise<void>
  stop(): void
  /** Looks at all peers; to be called now and then. */
  checkAll(): void
}

export interface GossipStreamsComponents {
  readonly libp2p: Libp2p
  readonly pubsub: GossipInternals
  readonly membership: Pick<Membership, 'isMember'>
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly refusals: Refusals
  readonly logger: Logger
}

/** An inbound stream and how it ended, if it did. */
interface Inbound {
  readonly stream: Stream
  readonly connection: Connection
  end: 'closed' | 'reset' | undefined
  onEnd: () => void
}

/** What is known of our outbound stream to one peer. */
interface Outbound {
  opening: boolean
  connection: Connection | undefined
  failures: number
  notBeforeMs: number
  replacedAtMs: number
}

export function createGossipStreams(
  init: { readonly maxFrameBytes: number },
  components: GossipStreamsComponents,
): GossipStreams {
  const { libp2p, pubsub, membership, spoken, clock, refusals } = components
  const log = components.logger.child('gossip')
  /** By connection: the newest inbound stream and the one before it, which may still hold unread frames. */
  const inbound = new Map<string, readonly Inbound[]>()
  const outbound = new Map<string, Outbound>()
  const timers = new Set<() => void>()
  const strangers = createHeldBytes((peer) => membership.isMember(peer))
  let stopped = false

  const later = (delayMs: number, run: () => void) => {
    const cancel = clock.after(delayMs, () => {
      timers.delete(cancel)
      if (!stopped) run()
    })
    timers.add(cancel)
  }

  /** Ours never rebuild their gossip. */
  const isOurs = (peer: string) => spoken.speaks(peer, MEMBER_PROTOCOL)
  const speaksGossip = (peer: string) =>
    pubsub.peers.has(peer) || pubsub.protocols.some((protocol) => spoken.speaks(peer, protocol))

  function stateOf(peer: string): Outbound {
    const known = outbound.get(peer)
    if (known !== undefined) return known
    const state = {
      opening: false,
      connection: undefined,
      failures: 0,
      notBeforeMs: 0,
      replacedAtMs: Number.NEGATIVE_INFINITY,
    }
    outbound.set(peer, state)
    return state
  }

  const openConnections = (peerId: PeerId) =>
    libp2p.getConnections(peerId).filter(({ status }) => status === 'open')

  // inbound

  function onIncomingStream(stream: Stream, connection: Connection): void {
    if (stopped || !pubsub.isStarted()) return stream.abort(new Error('not started'))
    const peerId = connection.remotePeer
    const peer = peerId.toString()
    pubsub.addPeer(peerId, connection.direction, connection.remoteAddr)
    const [previous, beforeThat] = inbound.get(connection.id) ?? []
    beforeThat?.stream.abort(new Error('too many gossip streams'))
    const current = watchEnd(stream, connection)
    inbound.set(connection.id, previous === undefined ? [current] : [current, previous])
    void pubsub.streamsInbound.get(peer)?.close()
    const handle = { close: () => closeQuietly(stream) }
    pubsub.streamsInbound.set(peer, handle)
    void read(current).finally(() => {
      if (pubsub.streamsInbound.get(peer) === handle) pubsub.streamsInbound.delete(peer)
    })
    pubsub.outboundInflightQueue.push({ peerId, connection })
    if (previous !== undefined) answerRestart(previous)
    else followNewer(connection)
    later(STREAM_REPAIR_MS, () => check(peerId))
  }

  async function read({ stream, connection }: Inbound): Promise<void> {
    const from = { peer: connection.remotePeer.toString(), protocol: stream.protocol }
    try {
      const held = strangers.track(from.peer)
      for await (const frame of readFrames(stream, init.maxFrameBytes, held)) {
        try {
          await pubsub.handleReceivedRpc(connection.remotePeer, pubsub.decodeRpc(frame))
        } catch {
          refusals.refuse('room.bad_frame', from)
        }
      }
    } catch (error) {
      if (error instanceof TooMuchHeldError) refusals.refuse('room.too_much_held', from)
      else if (error instanceof FrameTooLongError) refusals.refuse('room.bad_frame', from)
      else return
      stream.abort(error)
    }
  }

  /** The peer opened a second stream on a connection: it may have begun anew, and know nothing of us. */
  function answerRestart(previous: Inbound): void {
    const { connection } = previous
    const peer = connection.remotePeer.toString()
    if (isOurs(peer)) {
      pubsub.sendSubscriptions(peer, pubsub.getTopics(), true)
      return
    }
    let answered = false
    const answer = () => {
      if (answered) return
      answered = true
      // a reset is how we and others replace a stream: answering it with another one would never end
      if (previous.end !== 'reset') replaceOutbound(connection)
    }
    if (previous.end !== undefined) return answer()
    previous.onEnd = answer
    later(STREAM_END_GRACE_MS, answer)
  }

  /** The peer speaks on a newer connection than we do: the older one may be dead without having been told so. */
  function followNewer(connection: Connection): void {
    const used = outbound.get(connection.remotePeer.toString())?.connection
    if (used === undefined || used.id === connection.id || used.timeline.open >= connection.timeline.open)
      return
    replaceOutbound(connection)
  }

  // outbound

  function replaceOutbound(connection: Connection): void {
    const peer = connection.remotePeer.toString()
    const state = stateOf(peer)
    const now = clock.now()
    if (stopped || now - state.replacedAtMs < STREAM_REPLACE_MIN_MS) return
    state.replacedAtMs = now
    const old = pubsub.streamsOutbound.get(peer)
    pubsub.streamsOutbound.delete(peer)
    old?.rawStream.abort(new Error('replaced by a new gossip stream'))
    log.debug('gossip stream replaced', { peer })
    pubsub.outboundInflightQueue.push({ peerId: connection.remotePeer, connection })
  }

  const createOutboundStream = pubsub.createOutboundStream.bind(pubsub)

  /** Gossipsub opens streams one after another; a peer that does not answer must not hold up the others. */
  async function openOutbound(peerId: PeerId, connection: Connection): Promise<void> {
    const peer = peerId.toString()
    const state = stateOf(peer)
    if (stopped || state.opening || pubsub.streamsOutbound.has(peer)) return
    state.opening = true
    void createOutboundStream(peerId, connection).finally(() => {
      state.opening = false
      const opened = pubsub.streamsOutbound.get(peer)
      if (opened === undefined) {
        const waits = STREAM_REPAIR_BACKOFF_MS
        state.failures = Math.min(state.failures + 1, waits.length - 1)
        const wait = waits[state.failures] ?? 0
        state.notBeforeMs = clock.now() + wait
        return later(wait, () => check(peerId))
      }
      state.connection = connection
      const openedAtMs = clock.now()
      const onClose = () => {
        // a stream that lived for a while is opened again at once, one that died young after a wait
        if (clock.now() - openedAtMs > STREAM_REPAIR_MS * 4) state.failures = 0
        state.notBeforeMs = clock.now() + (STREAM_REPAIR_BACKOFF_MS[state.failures] ?? 0)
        state.failures = Math.min(state.failures + 1, STREAM_REPAIR_BACKOFF_MS.length - 1)
        later(0, () => check(peerId))
      }
      if (opened.rawStream.status === 'open') {
        opened.rawStream.addEventListener('close', onClose, { once: true })
      } else onClose()
    })
  }

  /** Opens the outbound stream of a connected peer that has none. */
  function check(peerId: PeerId): void {
    const peer = peerId.toString()
    if (stopped || !pubsub.isStarted() || !speaksGossip(peer)) return
    const connections = openConnections(peerId)
    const connection = connections.find(({ direct }) => direct) ?? connections[0]
    if (connection === undefined) return
    const stream = pubsub.streamsOutbound.get(peer)
    if (stream !== undefined && stream.rawStream.status !== 'open') pubsub.streamsOutbound.delete(peer)
    const state = stateOf(peer)
    if (pubsub.streamsOutbound.has(peer) || state.opening) return
    const wait = state.notBeforeMs - clock.now()
    if (wait > 0) return later(wait, () => check(peerId))
    pubsub.addPeer(peerId, connection.direction, connection.remoteAddr)
    pubsub.outboundInflightQueue.push({ peerId, connection })
  }

  // life

  const removePeer = pubsub.removePeer.bind(pubsub)
  /** A broken stream or a late event must not make us forget a peer that is connected. */
  function removeUnlessConnected(peerId: PeerId): void {
    if (!stopped && openConnections(peerId).length > 0) return later(0, () => check(peerId))
    outbound.delete(peerId.toString())
    removePeer(peerId)
  }

  const onConnectionClose = ({ detail }: CustomEvent<Connection>) => {
    inbound.delete(detail.id)
    if (openConnections(detail.remotePeer).length === 0) return
    later(0, () => check(detail.remotePeer))
    later(STREAM_REPAIR_MS, () => check(detail.remotePeer))
  }

  return {
    async start() {
      pubsub.onIncomingStream = onIncomingStream
      pubsub.createOutboundStream = openOutbound
      pubsub.removePeer = removeUnlessConnected
      libp2p.addEventListener('connection:close', onConnectionClose)
      if (!pubsub.isStarted()) return
      // its handlers stand already, bound to what was there before
      const options = { force: true, runOnLimitedConnection: true } as const
      for (const protocol of pubsub.protocols) await libp2p.handle(protocol, onIncomingStream, options)
      for (const connection of libp2p.getConnections()) {
        const stream = connection.streams.find(
          ({ direction, protocol }) => direction === 'inbound' && pubsub.protocols.includes(protocol),
        )
        if (stream !== undefined) inbound.set(connection.id, [watchEnd(stream, connection)])
        later(0, () => check(connection.remotePeer))
      }
    },
    stop() {
      stopped = true
      libp2p.removeEventListener('connection:close', onConnectionClose)
      for (const cancel of timers) cancel()
      timers.clear()
      inbound.clear()
      outbound.clear()
    },
    checkAll() {
      for (const connection of libp2p.getConnections()) check(connection.remotePeer)
    },
  }
}

function watchEnd(stream: Stream, connection: Connection): Inbound {
  const inbound: Inbound = { stream, connection, end: undefined, onEnd: () => {} }
  const end = (how: 'closed' | 'reset') => {
    inbound.end ??= how
    inbound.onEnd()
  }
  stream.addEventListener('remoteCloseWrite', () => end('closed'), { once: true })
  stream.addEventListener('close', () => end(stream.status === 'reset' ? 'reset' : 'closed'), { once: true })
  return inbound
}

async function closeQuietly(stream: Stream): Promise<void> {
  try {
    await stream.close()
  } catch (error) {
    stream.abort(toError(error))
  }
}

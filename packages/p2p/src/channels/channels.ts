/**
 * Channels of own protocols, between members only. Outbound: 1 find or make a connection, 2 prove membership on it,
 * 3 open the stream. Inbound: 1 hold the stream back until its connection is proven, 2 bound how many, 3 hand it over.
 */
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Clock, type Logger, MeshError, type PeerId, tryParsePeerId } from '@mesh/core'
import {
  CHANNEL_OPEN_MS,
  DEFAULT_CHANNELS_PER_PEER,
  MAX_UNPROVEN_STREAMS,
  MEMBER_HANDSHAKE_MS,
} from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { Channel, ChannelOptions, Channels } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import type { SpokenProtocols } from '../spoken-protocols.ts'
import { createChannel } from './channel.ts'
import { createPresence } from './presence.ts'

export interface ChannelsComponents {
  readonly libp2p: Libp2p
  readonly membership: Membership
  readonly spoken: SpokenProtocols
  readonly clock: Clock
  readonly refusals: Refusals
  readonly logger: Logger
}

/** Above every bound of ours on channels of a peer, which are checked with a reason. */
const MAX_INBOUND_STREAMS = 1024

/** `Channels` with an end: `stop` resets what is open and takes the handlers away. */
export interface ChannelService extends Channels {
  stop(): Promise<void>
}

export function createChannels(components: ChannelsComponents): ChannelService {
  const { libp2p, membership, spoken, clock, refusals } = components
  const log = components.logger.child('channels')
  const presence = createPresence({ membership, spoken })
  const handled = new Set<string>()
  const open = new Set<Channel>()
  const unproven = new Map<string, number>()
  let stopped = false

  function track(stream: Stream, connection: Connection, peer: PeerId, options: ChannelOptions): Channel {
    const { maxMessageBytes } = options
    const onTooLong = () => refusals.refuse('channel.message_too_long', { peer, protocol: stream.protocol })
    const channel = createChannel({ stream, connection, peer, maxMessageBytes, clock, onTooLong })
    open.add(channel)
    stream.addEventListener('close', () => open.delete(channel), { once: true })
    if (stream.status !== 'open' && stream.status !== 'closing') open.delete(channel)
    return channel
  }

  /** False, and counted, when the stream must not be served. */
  async function admit(stream: Stream, connection: Connection): Promise<boolean> {
    if (membership.standing(connection) === 'proven') return true
    const from = { peer: connection.remotePeer.toString(), protocol: stream.protocol }
    const held = unproven.get(connection.id) ?? 0
    if (held < MAX_UNPROVEN_STREAMS) {
      unproven.set(connection.id, held + 1)
      // what a stranger sends meanwhile stays within the stream's first window
      if (stream.readStatus === 'readable') stream.pause()
      const limit = new AbortController()
      const cancel = clock.after(MEMBER_HANDSHAKE_MS, () => limit.abort())
      const proven = await membership.whenProven(connection, limit.signal)
      cancel()
      const left = (unproven.get(connection.id) ?? 1) - 1
      if (left === 0) unproven.delete(connection.id)
      else unproven.set(connection.id, left)
      if (proven) return true
    }
    refusals.refuse('channel.not_member', from)
    return false
  }

  async function findConnection(peer: PeerId, signal: AbortSignal): Promise<Connection> {
    const id = peerIdFromString(peer)
    const rank = (connection: Connection) =>
      (connection.direct ? 2 : 0) + (membership.standing(connection) === 'proven' ? 1 : 0)
    const usable = libp2p
      .getConnections(id)
      .filter((connection) => connection.status === 'open' && membership.standing(connection) !== 'refused')
      .sort((a, b) => rank(b) - rank(a))
    const [best] = usable
    if (best !== undefined) return best
    try {
      return await libp2p.dial(id, { signal })
    } catch (error) {
      throw new MeshError('p2p.unreachable', 'the peer cannot be reached', {
        cause: error,
        details: { peer },
      })
    }
  }

  async function openChannel(
    peer: PeerId,
    protocol: string,
    options: ChannelOptions,
    signal: AbortSignal,
  ): Promise<Channel> {
    const connection = await findConnection(peer, signal)
    if (!(await membership.prove(connection, signal))) {
      signal.throwIfAborted()
      throw new MeshError('p2p.not_member', 'the peer did not prove that it is a member', {
        details: { peer },
      })
    }
    let stream: Stream
    try {
      stream = await connection.newStream([protocol], { signal, runOnLimitedConnection: true })
    } catch (error) {
      throw asOpenError(error, peer, protocol)
    }
    if (stopped) {
      stream.abort(new Error('stopped'))
      throw new MeshError('p2p.not_started', 'this node has stopped')
    }
    return track(stream, connection, peer, options)
  }

  return {
    async handle(protocol, options, handler) {
      const { maxPerPeer = DEFAULT_CHANNELS_PER_PEER } = options
      const perPeer = new Map<PeerId, number>()

      const serve = async (stream: Stream, connection: Connection) => {
        const peer = tryParsePeerId(connection.remotePeer.toString())
        if (peer === undefined || !(await admit(stream, connection))) {
          return stream.abort(new Error('not a member'))
        }
        const count = (perPeer.get(peer) ?? 0) + 1
        if (count > maxPerPeer) {
          refusals.refuse('channel.too_many', { peer, protocol })
          return stream.abort(new Error('too many channels'))
        }
        perPeer.set(peer, count)
        const channel = track(stream, connection, peer, options)
        try {
          await handler(channel)
          await channel.close()
        } catch (error) {
          log.debug('channel ended with an error', { peer, protocol, error: String(error) })
          channel.abort(error instanceof Error ? error : new Error(String(error)))
        }
        const left = (perPeer.get(peer) ?? 1) - 1
        if (left === 0) perPeer.delete(peer)
        else perPeer.set(peer, left)
      }

      handled.add(protocol)
      // libp2p resets a stream whose handler rejects; ours answers for itself, and must not hold up the negotiation
      await libp2p.handle(protocol, (stream, connection) => void serve(stream, connection), {
        maxInboundStreams: MAX_INBOUND_STREAMS,
        maxOutboundStreams: MAX_INBOUND_STREAMS,
        runOnLimitedConnection: true,
      })
    },
    async open(peer, protocol, { signal, ...options }) {
      const limit = new AbortController()
      const expired = new MeshError('p2p.unreachable', 'the peer did not answer in time', {
        details: { peer },
      })
      const cancel = clock.after(CHANNEL_OPEN_MS, () => limit.abort(expired))
      try {
        const both = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal])
        return await openChannel(peer, protocol, options, both)
      } catch (error) {
        signal?.throwIfAborted()
        if (limit.signal.aborted) throw expired
        throw error
      } finally {
        cancel()
      }
    },
    peersWith: presence.peersWith,
    onPeerWith: presence.onPeerWith,
    async stop() {
      stopped = true
      presence.stop()
      await libp2p.unhandle([...handled])
      for (const channel of open) channel.abort(new Error('this node stops'))
      open.clear()
    },
  }
}

function asOpenError(error: unknown, peer: PeerId, protocol: string): MeshError {
  const unsupported = error instanceof Error && error.name === 'UnsupportedProtocolError'
  return unsupported
    ? new MeshError('p2p.unsupported', 'the peer does not speak the protocol', {
        cause: error,
        details: { peer, protocol },
      })
    : new MeshError('p2p.unreachable', 'the channel could not be opened', {
        cause: error,
        details: { peer, protocol },
      })
}

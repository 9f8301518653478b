/**
 * Streams of own protocols between members, whatever they carry. Outbound: 1 find or make a connection, 2 have
 * membership proven on it, 3 open the stream. Inbound: 1 hold the stream back until its connection is proven, 2 bound
 * how many, 3 hand it over.
 */
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Clock, MeshError, type PeerId, tryParsePeerId } from '@mesh/core'
import { CHANNEL_OPEN_MS, MAX_UNPROVEN_STREAMS, MEMBER_HANDSHAKE_MS } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'
import type { Refusals } from '../refusals.ts'

/** Who may be at the other end, and over what. */
interface StreamRules {
  /** `proven` on the stream's own connection; `heard` takes members of older networks, who cannot prove, too. */
  readonly from: 'proven' | 'heard'
  /** False: never over a relay. */
  readonly relayed: boolean
  /** What is sent first goes along with the protocol's name. Default: only with `heard`. */
  readonly lazy?: boolean | undefined
}

export interface MemberStream {
  readonly stream: Stream
  readonly connection: Connection
  readonly peer: PeerId
}

export interface MemberStreams {
  /** The handler has the stream until it closes; streams beyond `maxPerPeer` at a time are reset and counted. */
  serve(
    protocol: string,
    rules: StreamRules & { readonly maxPerPeer: number },
    handler: (inbound: MemberStream) => void,
  ): Promise<void>
  /** @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.unsupported`; the signal's reason */
  open(
    peer: PeerId,
    protocol: string,
    options: StreamRules & { readonly signal: AbortSignal | undefined },
  ): Promise<MemberStream>
  /** The best connection there is, or a new one. @throws MeshError `p2p.unreachable`; the signal's reason */
  connection(peer: PeerId, rules: StreamRules, signal: AbortSignal): Promise<Connection>
  /** Runs `task` with a signal that ends in time. @throws MeshError `p2p.unreachable`; the outer signal's reason */
  inTime<T>(
    peer: PeerId,
    signal: AbortSignal | undefined,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  stop(): Promise<void>
}

export interface MemberStreamsComponents {
  readonly libp2p: Libp2p
  readonly membership: Membership
  readonly clock: Clock
  readonly refusals: Refusals
  /** Makes a connection to a peer that has none. */
  readonly connect: (peer: PeerId, signal: AbortSignal) => Promise<unknown>
}

/** Above every bound of ours on streams of a peer, which are checked with a reason. */
const MAX_INBOUND_STREAMS = 1024

export function createMemberStreams(components: MemberStreamsComponents): MemberStreams {
  const { libp2p, membership, clock, refusals, connect } = components
  const served = new Set<string>()
  const open = new Set<Stream>()
  const unproven = new Map<string, number>()
  let stopped = false

  /** Told when the stream ends; at once when it has. */
  function track(stream: Stream, onClosed: () => void): void {
    open.add(stream)
    const closed = () => {
      open.delete(stream)
      onClosed()
    }
    if (isLive(stream)) stream.addEventListener('close', closed, { once: true })
    else closed()
  }

  /** Undefined: may be served now; else why not, or a promise of it. */
  function refusal(
    stream: Stream,
    connection: Connection,
    rules: StreamRules,
  ): RefusalCode | undefined | Promise<RefusalCode | undefined> {
    if (!rules.relayed && !connection.direct) return 'channel.relayed'
    const standing = membership.standing(connection)
    if (standing === 'proven') return undefined
    if (rules.from === 'proven') return untilProven(stream, connection)
    const heard = standing !== 'refused' && membership.isMember(connection.remotePeer.toString())
    return heard ? undefined : 'channel.not_member'
  }

  async function untilProven(stream: Stream, connection: Connection): Promise<RefusalCode | undefined> {
    const held = unproven.get(connection.id) ?? 0
    if (held >= MAX_UNPROVEN_STREAMS) return 'channel.not_member'
    unproven.set(connection.id, held + 1)
    // what a stranger sends meanwhile stays within the stream's first window
    if (stream.readStatus === 'readable') stream.pause()
    const limit = new AbortController()
    const cancel = clock.after(MEMBER_HANDSHAKE_MS, () => limit.abort())
    const proven = await membership.whenProven(connection, limit.signal)
    cancel()
    countDown(unproven, connection.id)
    return proven ? undefined : 'channel.not_member'
  }

  const rank = (connection: Connection) =>
    (connection.direct ? 4 : 0) +
    (membership.standing(connection) === 'proven' ? 2 : 0) +
    // QUIC's library loses short inbound streams
    (connection.remoteAddr.getComponents().some(({ name }) => name === 'quic-v1') ? 0 : 1)

  const bestConnection = (peer: PeerId): Connection | undefined =>
    libp2p
      .getConnections(peerIdFromString(peer))
      .filter((connection) => connection.status === 'open' && membership.standing(connection) !== 'refused')
      .sort((a, b) => rank(b) - rank(a))[0]

  async function findConnection(peer: PeerId, rules: StreamRules, signal: AbortSignal): Promise<Connection> {
    const best = bestConnection(peer) ?? (await dial(peer, signal))
    if (best.direct || rules.relayed) return best
    throw new MeshError('p2p.unreachable', 'the peer can be reached over a relay only', { details: { peer } })
  }

  async function dial(peer: PeerId, signal: AbortSignal): Promise<Connection> {
    let cause: unknown
    try {
      await connect(peer, signal)
      const made = bestConnection(peer)
      if (made !== undefined) return made
    } catch (error) {
      cause = error
    }
    throw new MeshError('p2p.unreachable', 'the peer cannot be reached', { cause, details: { peer } })
  }

  async function openOn(
    connection: Connection,
    protocol: string,
    options: { readonly peer: PeerId; readonly rules: StreamRules; readonly signal: AbortSignal },
  ): Promise<Stream> {
    const { peer, rules, signal } = options
    try {
      return await connection.newStream([protocol], {
        signal,
        runOnLimitedConnection: rules.relayed,
        // streams of older members carry one packet each
        negotiateFully: !(rules.lazy ?? rules.from === 'heard'),
        maxOutboundStreams: MAX_INBOUND_STREAMS,
      })
    } catch (error) {
      throw asOpenError(error, peer, protocol)
    }
  }

  async function inTime<T>(
    peer: PeerId,
    signal: AbortSignal | undefined,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController()
    const expired = new MeshError('p2p.unreachable', 'the peer did not answer in time', { details: { peer } })
    const cancel = clock.after(CHANNEL_OPEN_MS, () => limit.abort(expired))
    try {
      return await task(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]))
    } catch (error) {
      signal?.throwIfAborted()
      if (limit.signal.aborted) throw expired
      throw error
    } finally {
      cancel()
    }
  }

  return {
    connection: findConnection,
    inTime,
    async serve(protocol, rules, handler) {
      const perPeer = new Map<PeerId, number>()

      const serveOne = async (stream: Stream, connection: Connection) => {
        const peer = tryParsePeerId(connection.remotePeer.toString())
        let code = peer === undefined ? 'channel.not_member' : refusal(stream, connection, rules)
        // no promise in between where none is needed: what comes first must find its reader
        if (code instanceof Promise) code = await code
        if (stopped) return stream.abort(new Error('this node stops'))
        const count = peer === undefined ? 0 : (perPeer.get(peer) ?? 0) + 1
        if (code === undefined && count > rules.maxPerPeer) code = 'channel.too_many'
        if (peer === undefined || code !== undefined) {
          refusals.refuse(code ?? 'channel.not_member', { peer: connection.remotePeer.toString(), protocol })
          return stream.abort(new Error(`refused: ${code}`))
        }
        perPeer.set(peer, count)
        track(stream, () => countDown(perPeer, peer))
        handler({ stream, connection, peer })
      }

      served.add(protocol)
      // libp2p resets a stream whose handler rejects; ours answers for itself, and must not hold up the negotiation
      await libp2p.handle(protocol, (stream, connection) => void serveOne(stream, connection), {
        maxInboundStreams: MAX_INBOUND_STREAMS,
        maxOutboundStreams: MAX_INBOUND_STREAMS,
        runOnLimitedConnection: rules.relayed,
      })
    },
    open: (peer, protocol, { signal: outer, ...rules }) =>
      inTime(peer, outer, async (signal) => {
        const connection = await findConnection(peer, rules, signal)
        if (rules.from === 'proven' && !(await membership.prove(connection, signal))) {
          signal.throwIfAborted()
          throw new MeshError('p2p.not_member', 'the peer did not prove that it is a member', {
            details: { peer },
          })
        }
        const stream = await openOn(connection, protocol, { peer, rules, signal })
        if (stopped) {
          stream.abort(new Error('stopped'))
          throw new MeshError('p2p.not_started', 'this node has stopped')
        }
        track(stream, () => {})
        return { stream, connection, peer }
      }),
    async stop() {
      stopped = true
      await libp2p.unhandle([...served])
      for (const stream of open) stream.abort(new Error('this node stops'))
      open.clear()
    },
  }
}

export function isLive(stream: Stream): boolean {
  return stream.status === 'open' || stream.status === 'closing'
}

function countDown<K>(counts: Map<K, number>, key: K): void {
  const left = (counts.get(key) ?? 1) - 1
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
}

function asOpenError(error: unknown, peer: PeerId, protocol: string): MeshError {
  const unsupported = error instanceof Error && error.name === 'UnsupportedProtocolError'
  const options = { cause: error, details: { peer, protocol } }
  return unsupported
    ? new MeshError('p2p.unsupported', 'the peer does not speak the protocol', options)
    : new MeshError('p2p.unreachable', 'the stream could not be opened', options)
}

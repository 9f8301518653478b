/**
 * Streams of our own protocols between members, whatever they carry. Outbound: 1 a connection is found or made
 * (`connection`), 2 membership is proven on it, 3 the stream is opened. Inbound: 1 the stream is held back
 * until its connection is proven (`stream-admission.ts`), 2 the number of streams is bounded, 3 it is handed over.
 */
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Clock, MeshError, type PeerId, tryParsePeerId, withDeadline } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { addressGroupOf } from '../addresses/address-group.ts'
import { type ConnectionChecks, SilentConnectionError } from '../libp2p/liveness-checks.ts'
import { CHANNEL_OPEN_MS, MAX_CONNECTIONS_TRIED, MAX_STREAMS_PER_ADDRESS } from './limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { Refusals } from '../refusals.ts'
import { StreamAdmission, type StreamRules } from './stream-admission.ts'

/** An open stream, the connection that carries it and the member at its other end. */
export interface MemberStream {
  readonly stream: Stream
  readonly connection: Connection
  readonly peer: PeerId
}

type StreamHandler = (inbound: MemberStream) => void

interface MemberStreamsComponents {
  readonly libp2p: Libp2p
  readonly membership: Membership
  readonly checks: Pick<ConnectionChecks, 'whileSure'>
  readonly clock: Clock
  readonly refusals: Refusals
  /** Makes a connection to a peer that has none. */
  readonly connect: (peer: PeerId, signal: AbortSignal) => Promise<unknown>
}

/** Bound of libp2p itself. Our own bounds are lower, and say why they refuse. */
const MAX_INBOUND_STREAMS = 1024

/** Creates the streams of one node; nothing is served until `serve` is called. */
export class MemberStreams {
  readonly #components: MemberStreamsComponents
  readonly #admission: StreamAdmission
  readonly #served = new Set<string>()
  readonly #ungated = new Set<string>()
  readonly #open = new Set<Stream>()
  #isStopped = false

  constructor(components: MemberStreamsComponents) {
    this.#components = components
    this.#admission = new StreamAdmission(components)
  }

  /** Serves a protocol: the handler has the stream until it closes; streams beyond `maxPerPeer` are reset and counted. */
  async serve(
    protocol: string,
    rules: StreamRules & { readonly maxPerPeer: number },
    handler: StreamHandler,
  ): Promise<void> {
    const { maxPerPeer } = rules
    const perAddress = Math.max(MAX_STREAMS_PER_ADDRESS, maxPerPeer)
    const places = new Scope({ all: Number.POSITIVE_INFINITY, perPeer: maxPerPeer, perAddress })
    this.#served.add(protocol)
    if (rules.ungated === true) this.#ungated.add(protocol)
    // libp2p resets a stream whose handler rejects; ours answers for itself, and must not hold up the negotiation
    const serveOne = (stream: Stream, connection: Connection) =>
      void this.#serveOne({ stream, connection }, { protocol, rules, places, handler })
    await this.#components.libp2p.handle(protocol, serveOne, {
      maxInboundStreams: MAX_INBOUND_STREAMS,
      maxOutboundStreams: MAX_INBOUND_STREAMS,
      runOnLimitedConnection: rules.relayed,
    })
  }

  async #serveOne(
    { stream, connection }: { readonly stream: Stream; readonly connection: Connection },
    served: {
      readonly protocol: string
      readonly rules: StreamRules & { readonly maxPerPeer: number }
      readonly places: Scope
      readonly handler: StreamHandler
    },
  ): Promise<void> {
    const { protocol, rules, places, handler } = served
    const peer = tryParsePeerId(connection.remotePeer.toString())
    let code = peer === undefined ? 'channel.not_member' : this.#admission.judge(stream, connection, rules)
    // no promise in between where none is needed: what comes first must find its reader
    if (code instanceof Promise) code = await code
    if (this.#isStopped) return stream.abort(new Error('this node stops'))
    const isServed = peer !== undefined && code === undefined
    const place = isServed ? places.reserve({ peer, address: addressGroupOf(connection) }) : undefined
    if (isServed && place === undefined) code = 'channel.too_many'
    if (peer === undefined || place === undefined) {
      const from = { peer: connection.remotePeer.toString(), protocol }
      this.#components.refusals.refuse(code ?? 'channel.not_member', from)
      return stream.abort(new Error(`refused: ${code}`))
    }
    this.#track(stream, () => place.release())
    handler({ stream, connection, peer })
  }

  /**
   * Opens a stream to a member.
   *
   * @throws MeshError `p2p.unreachable`, `p2p.not_member`, `p2p.not_admitted`, `p2p.unsupported`; the signal's reason
   */
  open(
    peer: PeerId,
    protocol: string,
    { signal: outer, ...rules }: StreamRules & { readonly signal: AbortSignal | undefined },
  ): Promise<MemberStream> {
    return this.inTime(peer, outer, async (signal) => {
      this.#gate(peer, rules)
      const { connection, stream } = await this.#openOnOne(peer, protocol, { rules, signal })
      if (this.#isStopped) {
        stream.abort(new Error('stopped'))
        throw new MeshError('p2p.not_started', 'this node has stopped')
      }
      this.#track(stream, () => {})
      return { stream, connection, peer }
    })
  }

  /** True for a protocol that is served to members who are kept out, too. */
  isUngated(protocol: string): boolean {
    return this.#ungated.has(protocol)
  }

  /** Gives the best connection there is, or makes one. @throws MeshError `p2p.unreachable`; the signal's reason */
  async connection(
    peer: PeerId,
    rules: Pick<StreamRules, 'relayed'>,
    signal: AbortSignal,
  ): Promise<Connection> {
    const best = this.#best(peer) ?? (await this.#dial(peer, signal))
    if (best.direct || rules.relayed) return best
    throw new MeshError('p2p.unreachable', 'the peer can be reached over a relay only', { details: { peer } })
  }

  async #dial(peer: PeerId, signal: AbortSignal): Promise<Connection> {
    let cause: unknown
    try {
      await this.#components.connect(peer, signal)
      const made = this.#best(peer)
      if (made !== undefined) return made
    } catch (error) {
      cause = error
    }
    throw new MeshError('p2p.unreachable', 'the peer cannot be reached', { cause, details: { peer } })
  }

  #best(peer: PeerId): Connection | undefined {
    const { libp2p, membership } = this.#components
    const rank = (connection: Connection) =>
      (connection.direct ? 4 : 0) +
      (membership.standing(connection) === 'proven' ? 2 : 0) +
      // the QUIC library loses short inbound streams
      (connection.remoteAddr.getComponents().some(({ name }) => name === 'quic-v1') ? 0 : 1)
    return libp2p
      .getConnections(peerIdFromString(peer))
      .filter((connection) => connection.status === 'open' && membership.standing(connection) !== 'refused')
      .sort((a, b) => rank(b) - rank(a))[0]
  }

  /**
   * Runs `task` with a signal that ends after `CHANNEL_OPEN_MS`.
   *
   * @throws MeshError `p2p.unreachable` when the time is over; the outer signal's reason
   */
  async inTime<T>(
    peer: PeerId,
    signal: AbortSignal | undefined,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const expired = new MeshError('p2p.unreachable', 'the peer did not answer in time', { details: { peer } })
    let ended: AbortSignal | undefined
    try {
      const { clock } = this.#components
      const init = { clock, ms: CHANNEL_OPEN_MS, signal, reason: () => expired }
      return await withDeadline(init, (own) => {
        ended = own
        return task(own)
      })
    } catch (error) {
      ended?.throwIfAborted()
      throw error
    }
  }

  /** Stops serving and resets all streams. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#components.libp2p.unhandle([...this.#served])
    for (const stream of this.#open) stream.abort(new Error('this node stops'))
    this.#open.clear()
  }

  #gate(peer: PeerId, { ungated }: StreamRules): void {
    if (ungated === true || this.#components.membership.mayUse(peer)) return
    throw new MeshError('p2p.not_admitted', 'the peer is kept out of the network', { details: { peer } })
  }

  /**
   * Opens the stream on a connection on which the peer proved itself, where that is required. Takes another connection if this one
   * is silent, or closes as the second of two that both ends opened.
   */
  async #openOnOne(
    peer: PeerId,
    protocol: string,
    { rules, signal }: { readonly rules: StreamRules; readonly signal: AbortSignal },
  ): Promise<Pick<MemberStream, 'connection' | 'stream'>> {
    const { checks } = this.#components
    for (let tries = 1; ; tries++) {
      const connection = await this.connection(peer, rules, signal)
      const task = async (sure: AbortSignal) => {
        await this.#prove(connection, { peer, rules, signal: sure })
        this.#gate(peer, rules)
        return { connection, stream: await openOn(connection, protocol, { peer, rules, signal: sure }) }
      }
      try {
        // streams of legacy members wait for nothing, and carry one packet each
        if (rules.from === 'heard' && rules.lazy !== false) return await task(signal)
        return await checks.whileSure([connection], { signal, task })
      } catch (error) {
        signal.throwIfAborted()
        const isGone = connection.status !== 'open' || error instanceof SilentConnectionError
        if (!isGone || tries >= MAX_CONNECTIONS_TRIED) throw error
      }
    }
  }

  async #prove(
    connection: Connection,
    {
      peer,
      rules,
      signal,
    }: { readonly peer: PeerId; readonly rules: StreamRules; readonly signal: AbortSignal },
  ): Promise<void> {
    if (rules.from !== 'proven' || (await this.#components.membership.prove(connection, signal))) return
    signal.throwIfAborted()
    throw new MeshError('p2p.not_member', 'the peer did not prove that it is a member', { details: { peer } })
  }

  /** Calls `onClosed` when the stream ends, or at once when it has ended. */
  #track(stream: Stream, onClosed: () => void): void {
    this.#open.add(stream)
    const closed = () => {
      this.#open.delete(stream)
      onClosed()
    }
    if (isLive(stream)) stream.addEventListener('close', closed, { once: true })
    else closed()
  }
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
      // streams of legacy members carry one packet each
      negotiateFully: !(rules.lazy ?? rules.from === 'heard'),
      maxOutboundStreams: MAX_INBOUND_STREAMS,
    })
  } catch (error) {
    throw asOpenError(error, peer, protocol)
  }
}

/** True while the stream may still carry something in either direction. */
export function isLive(stream: Stream): boolean {
  return stream.status === 'open' || stream.status === 'closing'
}

function asOpenError(error: unknown, peer: PeerId, protocol: string): MeshError {
  const unsupported = error instanceof Error && error.name === 'UnsupportedProtocolError'
  const options = { cause: error, details: { peer, protocol } }
  return unsupported
    ? new MeshError('p2p.unsupported', 'the peer does not speak the protocol', options)
    : new MeshError('p2p.unreachable', 'the stream could not be opened', options)
}

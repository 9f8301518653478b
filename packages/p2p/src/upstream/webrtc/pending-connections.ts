/**
 * Bounds the WebRTC connections that others begin, by address and in all, until they are connections.
 *
 * @library @libp2p/webrtc 6.0.33
 * @wraps `incomingConnection` of the listeners of WebRTC Direct, `_onProtocol` of the transport
 * @without Memory and sockets have no bound: each packet under a new name, and each stream of signalling, makes a native
 * connection.
 * @shown `upstream/webrtc/pending-connections.test.ts`, `npm run attack -- stun-questions member-signalling`
 */
import type { Connection, Listener, Stream, Transport } from '@libp2p/interface'
import { addressGroup, type Clock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { addressGroupOf } from '../../addresses/address-group.ts'
import { PENDING_WEBRTC } from '../limits.ts'
import { openInner } from '../inner-names.ts'
import { freeLater } from './library.ts'

const LIBRARY = '@libp2p/webrtc 6.0.33'

/** Connections that have begun. */
export class PendingWebRtc {
  readonly #scope = new Scope(PENDING_WEBRTC)

  /** Does work where there is a place for it, and tells whether it did. The signal aborts when the place is taken back. */
  async run(address: string, work: (evicted: AbortSignal) => Promise<void>): Promise<boolean> {
    const evicted = new AbortController()
    const place = this.#scope.reserve({ address, end: (reason) => evicted.abort(reason) })
    if (place === undefined) return false
    try {
      await work(evicted.signal)
    } finally {
      place.release()
    }
    return true
  }
}

interface DirectListener extends Listener {
  incomingConnection(ufrag: string, host: string, port: number, signal: AbortSignal): Promise<void>
}

/** Bounds the connections that packets begin at listeners. @throws MeshError `p2p.incompatible_library` when it listens */
export function boundDirectConnections<T extends Transport>(
  transport: T,
  pending: PendingWebRtc,
  clock: Clock,
): T {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const made = createListener(options)
    const listener = openInner<DirectListener>(LIBRARY, made, ['incomingConnection'])
    const begin = listener.incomingConnection.bind(listener)
    listener.incomingConnection = async (ufrag, host, port, signal) => {
      await pending.run(addressGroup(host), (evicted) =>
        begin(ufrag, host, port, AbortSignal.any([signal, evicted])),
      )
    }
    return freeLater(listener, clock)
  }
  return transport
}

interface SignallingTransport extends Transport {
  _onProtocol(stream: Stream, connection: Connection, signal: AbortSignal): Promise<void>
}

interface SignallingBounds {
  readonly pending: PendingWebRtc
  readonly maySignal: (connection: Connection) => boolean
}

/** Bounds the connections that are signalled. @throws MeshError `p2p.incompatible_library` */
export function boundSignalling<T extends Transport>(
  transport: T,
  { pending, maySignal }: SignallingBounds,
): T {
  const signalling = openInner<SignallingTransport>(LIBRARY, transport, ['_onProtocol'])
  const begin = signalling._onProtocol.bind(transport)
  signalling._onProtocol = async (stream, connection, signal) => {
    const isBegun =
      maySignal(connection) &&
      (await pending.run(addressGroupOf(connection), (evicted) => {
        evicted.addEventListener('abort', () => stream.abort(new Error('another address begins')))
        return begin(stream, connection, AbortSignal.any([signal, evicted]))
      }))
    if (!isBegun) stream.abort(new Error('no WebRTC connection for this peer now'))
  }
  return transport
}

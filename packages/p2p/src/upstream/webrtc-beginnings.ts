/**
 * Bounds the WebRTC connections that others begin and that are none yet. Version 6.0.33 of @libp2p/webrtc makes a
 * connection of the native library, with a socket and its share of threads, for each question of STUN under a new
 * name, which is one packet from any sender, and for each stream of signalling: of anybody, and as many as come.
 * Report to send: 'webrtc-direct: bound the connections that incomingConnection has under way; webrtc: the same for
 * _onProtocol'.
 *
 * Replaces `incomingConnection` of the listeners and `_onProtocol` of the transport; where they are missing nothing is bounded.
 * Without it `webrtc-beginnings.test.ts` fails; `npm run attack -- stun-questions member-signalling` begins such connections.
 */
import type { Connection, Listener, Stream, Transport } from '@libp2p/interface'
import { addressGroup, tryParseIp, whoMakesWay } from '@mesh/core'
import { addressGroupOf } from '../addresses/address-group.ts'
import { MAX_PENDING_WEBRTC, MAX_PENDING_WEBRTC_PER_ADDRESS } from '../limits.ts'

/** A connection that is under way for an address, and what ends it. */
interface Begun {
  readonly address: string
  readonly end: AbortController
}

/**
 * Bounds the connections that are under way, by address and in all: where all are taken, the newest of the address with the
 * most makes way for one that has fewer.
 */
export class WebRtcBeginnings {
  readonly #begun = new Set<Begun>()

  /** Does work unless there is too much of it already; says whether it did. The signal aborts when it has to make way. */
  async run(address: string, work: (madeWay: AbortSignal) => Promise<void>): Promise<boolean> {
    const ofAddress = [...this.#begun].filter((each) => each.address === address).length
    if (ofAddress >= MAX_PENDING_WEBRTC_PER_ADDRESS) return false
    if (this.#begun.size >= MAX_PENDING_WEBRTC && !this.#makeRoom(address)) return false
    const begun: Begun = { address, end: new AbortController() }
    this.#begun.add(begun)
    try {
      await work(begun.end.signal)
    } finally {
      this.#begun.delete(begun)
    }
    return true
  }

  #makeRoom(address: string): boolean {
    const last = whoMakesWay(this.#begun, (each) => each.address, address)
    if (last === undefined) return false
    this.#begun.delete(last)
    last.end.abort(new Error('another address begins'))
    return true
  }
}

interface DirectListener extends Listener {
  incomingConnection?(ufrag: string, host: string, port: number, signal: AbortSignal): Promise<void>
}

/** Bounds the connections that packets begin at the listeners of WebRTC direct. */
export function boundDirectBeginnings<T extends Transport>(transport: T, beginnings: WebRtcBeginnings): T {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const listener: DirectListener = createListener(options)
    const begin = listener.incomingConnection?.bind(listener)
    if (begin === undefined) return listener
    listener.incomingConnection = async (ufrag, host, port, signal) => {
      const ip = tryParseIp(host)
      const address = ip === undefined ? host : addressGroup(ip)
      await beginnings.run(address, (madeWay) => begin(ufrag, host, port, AbortSignal.any([signal, madeWay])))
    }
    return listener
  }
  return transport
}

interface SignallingTransport extends Transport {
  _onProtocol?(stream: Stream, connection: Connection, signal: AbortSignal): Promise<void>
}

/** Bounds the connections that are signalled, and by whom. */
export function boundSignalling<T extends Transport>(
  transport: T,
  {
    beginnings,
    maySignal,
  }: {
    readonly beginnings: WebRtcBeginnings
    readonly maySignal: (connection: Connection) => boolean
  },
): T {
  const signalling: SignallingTransport = transport
  const begin = signalling._onProtocol?.bind(transport)
  if (begin === undefined) return transport
  signalling._onProtocol = async (stream, connection, signal) => {
    const isBegun =
      maySignal(connection) &&
      (await beginnings.run(addressGroupOf(connection), (madeWay) => {
        madeWay.addEventListener('abort', () => stream.abort(new Error('another address begins')))
        return begin(stream, connection, AbortSignal.any([signal, madeWay]))
      }))
    if (!isBegun) stream.abort(new Error('no WebRTC connection for this peer now'))
  }
  return transport
}

/** The side on which others open streams: their connections, bounded by peer, by address and in all, and who serves what. */
import type { TLSSocket } from 'node:tls'
import { type Clock, KeyedCounts, type Logger, type PeerId, toError } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import type { BandwidthCounter } from '../bandwidth/bandwidth.ts'
import type { ByteStream } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import type { Unsent } from '../unsent.ts'
import { BulkConnection } from './bulk-connection.ts'
import { ACCEPTED } from './limits.ts'

export interface BulkHandler {
  readonly maxPerPeer: number
  readonly halfClose: boolean
  readonly handle: (stream: ByteStream) => void
}

export interface AcceptorComponents {
  readonly bandwidth: BandwidthCounter
  readonly refusals: Refusals
  readonly unread: Scope
  readonly unsent: Unsent
  readonly clock: Clock
  readonly log: Logger
}

export class Acceptor {
  readonly #components: AcceptorComponents
  readonly #handlers = new Map<string, BulkHandler>()
  readonly #connections = new Map<PeerId, Set<BulkConnection>>()
  readonly #places = new Scope(ACCEPTED)
  /** Open streams by protocol and peer. */
  readonly #open = new KeyedCounts<string>()
  /** The stream's key in `#open`, while one is open. */
  readonly #serving = new Map<BulkConnection, string>()

  constructor(components: AcceptorComponents) {
    this.#components = components
  }

  serve(protocol: string, handler: BulkHandler): void {
    this.#handlers.set(protocol, handler)
  }

  /** Takes a connection of a peer that proved its key. */
  accept(peer: PeerId, socket: TLSSocket): void {
    const place = this.reserve(peer, socket.remoteAddress ?? '')
    if (place === undefined) {
      this.#components.refusals.refuse('bulk.too_many', { peer })
      return void socket.destroy()
    }
    const ofPeer = this.#connections.get(peer) ?? new Set()
    const { clock, unread, unsent } = this.#components
    const connection: BulkConnection = new BulkConnection({
      socket,
      peer,
      isOpener: false,
      clock,
      unread,
      unsent,
      onOpen: (protocol) => this.#begin(protocol, connection),
      onIdle: () => this.#release(connection),
      onClosed: () => {
        this.#release(connection)
        place.release()
        ofPeer.delete(connection)
        if (ofPeer.size === 0) this.#connections.delete(peer)
      },
    })
    ofPeer.add(connection)
    this.#connections.set(peer, ofPeer)
  }

  /** Reserves a place before the handshake. A peer that gets none is told so, and uses libp2p's stream. */
  reserve(peer: PeerId, address: string): Place | undefined {
    return this.#places.reserve({ peer, address })
  }

  closeOf(peer: PeerId): void {
    for (const connection of this.#connections.get(peer) ?? []) connection.close()
  }

  /** Ends connections that the rules do not allow any more. */
  closeWhere(isRefused: (connection: BulkConnection) => boolean): void {
    for (const connections of this.#connections.values()) {
      for (const connection of connections) if (isRefused(connection)) connection.close()
    }
  }

  #begin(protocol: string, connection: BulkConnection): boolean {
    const { refusals, bandwidth, log } = this.#components
    const { peer } = connection
    const handler = this.#handlers.get(protocol)
    const key = `${protocol} ${peer}`
    if (handler === undefined) return false
    if (this.#open.of(key) >= handler.maxPerPeer) {
      refusals.refuse('channel.too_many', { peer, protocol })
      return false
    }
    this.#open.add(key)
    this.#serving.set(connection, key)
    const meter = bandwidth.meter({ protocol, peer, relayed: false })
    const stream = connection.begin({ halfClose: handler.halfClose, meter })
    try {
      handler.handle(stream)
    } catch (error) {
      log.debug('stream not taken', { peer, protocol, error: String(error) })
      stream.abort(toError(error))
    }
    return true
  }

  #release(connection: BulkConnection): void {
    const key = this.#serving.get(connection)
    if (key === undefined) return
    this.#serving.delete(connection)
    this.#open.remove(key)
  }
}

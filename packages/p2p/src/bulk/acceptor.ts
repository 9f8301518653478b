/** The side on which others open streams: their connections, bounded by peer and in all, and who serves what. */
import type { TLSSocket } from 'node:tls'
import { type Clock, type Logger, type PeerId, toError } from '@mesh/core'
import type { BandwidthCounter } from '../bandwidth/bandwidth.ts'
import type { ByteStream } from '../p2p-node.ts'
import type { Refusals } from '../refusals.ts'
import { BulkConnection } from './bulk-connection.ts'
import { MAX_ACCEPTED, MAX_ACCEPTED_PER_PEER } from './limits.ts'

export interface BulkHandler {
  readonly maxPerPeer: number
  readonly halfClose: boolean
  readonly handle: (stream: ByteStream) => void
}

export interface AcceptorComponents {
  readonly bandwidth: BandwidthCounter
  readonly refusals: Refusals
  readonly clock: Clock
  readonly log: Logger
}

export class Acceptor {
  readonly #components: AcceptorComponents
  readonly #handlers = new Map<string, BulkHandler>()
  readonly #connections = new Map<PeerId, Set<BulkConnection>>()
  #total = 0
  /** Open streams by protocol and peer. */
  readonly #open = new Map<string, number>()
  /** The stream's key in `#open`, while one is open. */
  readonly #serving = new Map<BulkConnection, string>()

  constructor(components: AcceptorComponents) {
    this.#components = components
  }

  serve(protocol: string, handler: BulkHandler): void {
    this.#handlers.set(protocol, handler)
  }

  /** A connection of a peer that proved its key. */
  accept(peer: PeerId, socket: TLSSocket): void {
    const ofPeer = this.#connections.get(peer) ?? new Set()
    if (ofPeer.size >= MAX_ACCEPTED_PER_PEER || this.#total >= MAX_ACCEPTED) {
      this.#components.refusals.refuse('bulk.too_many', { peer })
      return void socket.destroy()
    }
    const connection: BulkConnection = new BulkConnection({
      socket,
      peer,
      isOpener: false,
      clock: this.#components.clock,
      onOpen: (protocol) => this.#begin(protocol, connection),
      onIdle: () => this.#release(connection),
      onClosed: () => {
        this.#release(connection)
        this.#total--
        ofPeer.delete(connection)
        if (ofPeer.size === 0) this.#connections.delete(peer)
      },
    })
    ofPeer.add(connection)
    this.#connections.set(peer, ofPeer)
    this.#total++
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
    const count = (this.#open.get(key) ?? 0) + 1
    if (handler === undefined) return false
    if (count > handler.maxPerPeer) {
      refusals.refuse('channel.too_many', { peer, protocol })
      return false
    }
    this.#open.set(key, count)
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
    const left = (this.#open.get(key) ?? 1) - 1
    if (left === 0) this.#open.delete(key)
    else this.#open.set(key, left)
  }
}

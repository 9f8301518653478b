/**
 * Streams over TLS connections beside libp2p's: OpenSSL costs far less for each byte than JavaScript. The first stream to a peer waits
 * one round trip and `OPEN_BUDGET_MS` at most. Then libp2p's stream is used, as with members without the protocol.
 */
import type { TLSSocket } from 'node:tls'
import type { Connection } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { MeshError, type PeerId, tryParseIp, tryParsePeerId } from '@mesh/core'
import { BULK_PROTOCOL } from '../protocols.ts'
import { Acceptor } from './acceptor.ts'
import type { Bulk, BulkComponents } from './bulk.ts'
import { BulkConnection } from './bulk-connection.ts'
import type { Offer } from './bulk-message.ts'
import { candidatesOf, type Endpoint, tcpPortsOf } from './candidates.ts'
import { answerBulk, type ControlComponents, proposeBulk } from './control-channel.ts'
import { dialTls } from './dial-tls.ts'
import { Identities } from './identities.ts'
import {
  DISCONNECTED_MS,
  MAX_BULK_MESSAGE_BYTES,
  MAX_BULK_PEERS,
  MAX_CONTROL_CHANNELS_PER_PEER,
  MAX_OFFERED_PORTS,
  MAX_OPENED,
  STALE_MS,
} from './limits.ts'
import { type Agreement, Opener } from './opener.ts'
import { createTlsAcceptor, type TlsAcceptor } from './tls-acceptor.ts'
import type { Sockets } from '../transport/sockets.ts'
import type { TlsDoor } from './tls-door.ts'
import { createTlsSettings, type TlsSettings } from './tls-settings.ts'

const CHANNEL = { maxMessageBytes: MAX_BULK_MESSAGE_BYTES, maxPerPeer: MAX_CONTROL_CHANNELS_PER_PEER }

interface BulkInit {
  /** The door that the sockets of this node's TCP listeners go through. */
  readonly door: TlsDoor
  readonly sockets: Sockets
}

export function createBulk(init: BulkInit, components: BulkComponents): Bulk {
  return new TlsBulk(init, components)
}

class TlsBulk implements Bulk {
  readonly #door: TlsDoor
  readonly #sockets: Sockets
  readonly #components: BulkComponents
  readonly #settings: TlsSettings = createTlsSettings()
  readonly #identities: Identities
  readonly #tls: TlsAcceptor
  readonly #acceptor: Acceptor
  readonly #openers = new Map<PeerId, Opener>()
  /** Where a peer was reached last. */
  readonly #reached = new Map<PeerId, Endpoint>()
  readonly #disconnected = new Map<PeerId, () => void>()
  #isStopped = false
  #stopDoubts = () => {}

  constructor({ door, sockets }: BulkInit, components: BulkComponents) {
    this.#door = door
    this.#sockets = sockets
    this.#components = { ...components, logger: components.logger.child('bulk') }
    this.#identities = new Identities(components)
    this.#acceptor = new Acceptor({ ...components, log: components.logger.child('bulk') })
    this.#tls = createTlsAcceptor({
      identities: this.#identities,
      settings: this.#settings,
      refusals: components.refusals,
      reserve: (peer, address) => this.#acceptor.reserve(peer, address),
    })
  }

  async start(): Promise<void> {
    const { host, channels, clock, onDoubt } = this.#components
    this.#door.open({
      isKnown: (identity) => this.#identities.get(identity) !== undefined,
      take: (socket, identity) => this.#tls.take(socket, identity),
      clock,
    })
    host.addEventListener('connection:open', this.#onConnection)
    host.addEventListener('peer:disconnect', this.#onDisconnected)
    // what ended libp2p's connection ended these, too; a stream on which something has come since may still go on
    this.#stopDoubts = onDoubt((peer) => this.#openers.get(peer)?.closeWhere(({ isUnheard }) => isUnheard))
    await channels.handle(BULK_PROTOCOL, CHANNEL, (channel) =>
      answerBulk(channel, (socket) => this.#acceptor.accept(channel.peer, socket), this.#control()),
    )
  }

  readonly serve: Bulk['serve'] = (protocol, handler) => this.#acceptor.serve(protocol, handler)

  readonly open: Bulk['open'] = async (peer, protocol, { halfClose }) => {
    const { speaks, rttMs, bandwidth } = this.#components
    if (this.#isStopped || speaks(peer, BULK_PROTOCOL) !== true) return undefined
    const connection = await this.#openerOf(peer)?.take(() => rttMs(peer) ?? 0)
    if (connection?.isLive !== true) return undefined
    if (connection.silentMs > STALE_MS) this.#components.ask(peer)
    const meter = bandwidth.meter({ protocol, peer, relayed: false })
    return connection.open(protocol, { halfClose, meter })
  }

  readonly prepare: Bulk['prepare'] = (peer) => {
    if (!this.#isStopped && this.#components.speaks(peer, BULK_PROTOCOL) === true) {
      this.#openerOf(peer)?.prepare()
    }
  }

  readonly closeBlocked: Bulk['closeBlocked'] = () => {
    const isRefused = ({ remoteAddress }: BulkConnection) => {
      const ip = tryParseIp(remoteAddress)
      return ip !== undefined && this.#components.isBlocked(ip)
    }
    for (const opener of this.#openers.values()) opener.closeWhere(isRefused)
    this.#acceptor.closeWhere(isRefused)
  }

  readonly closePeer: Bulk['closePeer'] = (peer) => {
    this.#forget(peer)
    this.#acceptor.closeOf(peer)
  }

  readonly stop: Bulk['stop'] = () => {
    this.#isStopped = true
    const { host } = this.#components
    host.removeEventListener('connection:open', this.#onConnection)
    host.removeEventListener('peer:disconnect', this.#onDisconnected)
    this.#stopDoubts()
    for (const cancel of this.#disconnected.values()) cancel()
    for (const opener of this.#openers.values()) opener.stop()
    this.#openers.clear()
    this.#door.close()
    this.#tls.stop()
    this.#acceptor.closeWhere(() => true)
  }

  #openerOf(peer: PeerId): Opener | undefined {
    const known = this.#openers.get(peer)
    if (known !== undefined || this.#openers.size >= MAX_BULK_PEERS) return known
    const { logger } = this.#components
    const opener: Opener = new Opener({
      ...this.#components,
      peer,
      negotiate: (on) => this.#negotiate(peer, on),
      mayDial: () => this.#opened() < MAX_OPENED,
      build: (socket, on) =>
        new BulkConnection({ ...this.#components, ...on, socket, peer, isOpener: true, onOpen: () => false }),
      onFailed: (reason) => logger.debug('no bulk path', { peer, reason }),
      onReady: (address) => logger.debug('bulk path ready', { peer, address, transport: 'tcp tls' }),
      onUnused: () => this.#forget(peer),
    })
    this.#openers.set(peer, opener)
    return opener
  }

  async #negotiate(peer: PeerId, on: Parameters<typeof proposeBulk>[1]): Promise<Agreement> {
    if (!this.#connectionsTo(peer).some(({ direct }) => direct)) {
      throw new MeshError('p2p.unreachable', 'no direct connection')
    }
    const channel = await this.#components.channels.open(peer, BULK_PROTOCOL, CHANNEL)
    return await proposeBulk(channel, on, this.#control())
  }

  #control(): ControlComponents {
    const { host, clock } = this.#components
    return {
      identities: this.#identities,
      ports: () => tcpPortsOf(host.getMultiaddrs()).slice(0, MAX_OFFERED_PORTS),
      dial: (peer, offer) => this.#dial(peer, offer),
      clock,
    }
  }

  async #dial(peer: PeerId, offer: Offer): Promise<TLSSocket> {
    const { isBlocked, clock } = this.#components
    const last = this.#reached.get(peer)
    const candidates = candidatesOf(this.#connectionsTo(peer), offer.ports, isBlocked)
    let failure: unknown = new Error('no address to connect to')
    for (const endpoint of candidates.toSorted((a, b) => rank(b, last) - rank(a, last))) {
      try {
        const socket = await dialTls({
          ...endpoint,
          offer,
          settings: this.#settings,
          sockets: this.#sockets,
          clock,
        })
        this.#reached.set(peer, endpoint)
        return socket
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  #opened(): number {
    return [...this.#openers.values()].reduce((sum, { connections }) => sum + connections, 0)
  }

  #connectionsTo(peer: PeerId): readonly Connection[] {
    return this.#components.host.getConnections(peerIdFromString(peer))
  }

  #forget(peer: PeerId): void {
    this.#openers.get(peer)?.stop()
    this.#openers.delete(peer)
    this.#reached.delete(peer)
  }

  readonly #onConnection = ({ detail }: CustomEvent<Connection>) => {
    const peer = tryParsePeerId(detail.remotePeer.toString())
    if (peer === undefined) return
    this.#disconnected.get(peer)?.()
    this.#disconnected.delete(peer)
    if (detail.direct) this.#openers.get(peer)?.pathChanged()
  }

  readonly #onDisconnected = ({ detail }: CustomEvent<{ toString(): string }>) => {
    const peer = tryParsePeerId(detail.toString())
    if (peer === undefined) return
    this.#disconnected.get(peer)?.()
    const end = () => {
      this.#disconnected.delete(peer)
      this.#forget(peer)
      this.#acceptor.closeOf(peer)
    }
    this.#disconnected.set(peer, this.#components.clock.after(DISCONNECTED_MS, end))
  }
}

function rank(endpoint: Endpoint, last: Endpoint | undefined): number {
  return endpoint.host === last?.host && endpoint.port === last.port ? 1 : 0
}

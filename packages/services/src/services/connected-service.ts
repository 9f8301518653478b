/**
 * One service of other members that this node makes reachable here.
 *
 * 1. Opens a local listener.
 * 2. Follows the providers of the name, and keeps connected to the best ones.
 * 3. Gives each local connection a stream to one of them.
 */
import type { Socket } from 'node:net'
import { type Clock, type Logger, type PeerId, type Random, toError } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { MAX_BULK_UDP_SESSIONS, LOCAL_CONNECTIONS, MAX_PROVIDERS } from '../limits.ts'
import type { ByteStream, ServicesLedger } from '../ports.ts'
import { type Listener, listenFor } from '../streams/listen.ts'
import { EarlyBytes } from '../streams/early-bytes.ts'
import { reset, splice, type Traffic } from '../streams/splice.ts'
import { sharedBy, type Unwritten } from '../streams/unwritten.ts'
import { type Endpoint, formatEndpoint, kindOf, socketAddressOf } from '../streams/endpoint.ts'
import {
  isLegacyProvider,
  openService,
  type OpenedService,
  type OpenServiceComponents,
  type OpenServiceInit,
} from './open-service.ts'
import { ProviderWatch } from './provider.ts'
import type { ProviderUse } from './provider-book.ts'
import type { ConnectedState, ConnectedStatus } from './status.ts'
import { listenForDatagrams } from './udp-listener.ts'

export interface ConnectedComponents extends OpenServiceComponents {
  readonly ledger: ServicesLedger
  readonly unwritten: Unwritten
  readonly ownAddresses: () => readonly string[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The status says something else now. */
  readonly onChange: () => void
}

export class ConnectedService {
  readonly name: string
  #listen: Endpoint
  readonly #components: ConnectedComponents
  readonly #provider: ProviderWatch
  /** The bytes of connections that are over. */
  readonly #past: Traffic = { bytesIn: 0, bytesOut: 0 }
  readonly #uses = new Set<ProviderUse>()
  /** Ends a connection; by what was opened for it. */
  readonly #open = new Set<(reason: Error) => void>()
  readonly #places = new Scope(LOCAL_CONNECTIONS)
  #listener: Listener | undefined
  readonly #startedAt: number
  /** The providers that have served a connection. */
  readonly #servedBy = new Set<PeerId>()
  /** The stream that was opened last. */
  #newest: Pick<ByteStream, 'peer' | 'transport'> | undefined
  #connections = 0
  #lastError: string | undefined
  /** The state that the log told last. */
  #told = ''

  constructor(name: string, listen: Endpoint, components: ConnectedComponents) {
    this.name = name
    this.#listen = listen
    this.#components = components
    this.#startedAt = components.clock.monotonic()
    const onChange = () => this.#providerChanged()
    this.#provider = new ProviderWatch(name, { ...components, onChange })
  }

  get kind() {
    return kindOf(this.#listen)
  }

  /** @throws MeshError `services.cannot_listen` */
  async start(): Promise<void> {
    const listen = this.#listen
    this.#listener =
      listen.type === 'udp'
        ? await listenForDatagrams(listen, {
            open: (signal) => this.#reach(signal, { bulk: this.#open.size <= MAX_BULK_UDP_SESSIONS }),
            opened: this.#open,
            ownAddresses: this.#components.ownAddresses,
            clock: this.#components.clock,
            onError: (error) => this.#failed(error),
          })
        : await listenFor(socketAddressOf(listen), (socket) => void this.#join(socket))
    // what is told is the port that was taken for 0
    if (listen.type !== 'unix' && this.#listener.port !== undefined) {
      this.#listen = { ...listen, port: this.#listener.port }
    }
    this.#components.log.info('service reached', { name: this.name, listen: formatEndpoint(this.#listen) })
  }

  status(): ConnectedStatus {
    const { network } = this.#components
    const { provider } = this.#provider
    const libp2p = provider === undefined ? undefined : network.pathOf(provider)
    const path = libp2p?.path
    const isNewest = path === 'direct' && this.#newest?.peer === provider
    return {
      name: this.name,
      listen: formatEndpoint(this.#listen),
      state: this.#state(path !== undefined),
      provider,
      providers: this.#provider.count,
      path,
      transport: (isNewest ? this.#newest?.transport : undefined) ?? libp2p?.transport,
      isLegacy: provider !== undefined && isLegacyProvider(network, provider),
      openConnections: this.#open.size,
      connections: this.#connections,
      ...this.#traffic(),
      lastError: this.#provider.lastError ?? this.#lastError,
    }
  }

  stop(): void {
    this.#listener?.close()
    this.#provider.stop()
    for (const end of this.#open) end(new Error('the connection to the service was ended'))
  }

  #traffic(): Traffic {
    const sum = { ...this.#past }
    for (const { traffic } of this.#uses) addTraffic(sum, traffic)
    return sum
  }

  #state(isConnected: boolean): ConnectedState {
    if (this.#listener === undefined) return 'failed'
    if (this.#provider.provider === undefined) return 'waiting for a provider'
    return isConnected ? 'connected' : 'connecting'
  }

  #providerChanged(): void {
    const { log, onChange, network } = this.#components
    const { provider } = this.#provider
    const path = provider === undefined ? undefined : network.pathOf(provider)?.path
    const told = `${this.#provider.service} ${provider} ${path}`
    if (told !== this.#told) {
      const { service } = this.#provider
      const words = { service, provider: provider ?? 'none', path: path ?? 'not connected' }
      log.info('service provider', { name: this.name, ...words })
    }
    this.#told = told
    onChange()
  }

  /** The caller says when the connection is over, by the use's `close`. */
  async #reach(signal: AbortSignal, how: Pick<OpenServiceInit, 'bulk' | 'early'>): Promise<OpenedService> {
    this.#connections++
    const { name, kind } = this
    const servedBy = this.#servedBy
    const init = { name, kind, provider: this.#provider, startedAt: this.#startedAt, servedBy, signal }
    const opened = await openService({ ...init, ...how }, this.#components)
    const { peer, transport } = opened.stream
    const isOther = this.#newest?.peer !== peer || this.#newest.transport !== transport
    this.#newest = { peer, ...(transport !== undefined && { transport }) }
    if (servedBy.size >= MAX_PROVIDERS) servedBy.clear()
    servedBy.add(peer)
    if (isOther) this.#components.onChange()
    return { ...opened, use: this.#counted(opened.use) }
  }

  #counted(use: ProviderUse): ProviderUse {
    this.#uses.add(use)
    const close = () => {
      if (this.#uses.delete(use)) addTraffic(this.#past, use.traffic)
      use.close()
    }
    return { ...use, close }
  }

  async #join(socket: Socket): Promise<void> {
    // what breaks it before it is joined shows when it is used
    socket.on('error', () => {})
    const ended = new AbortController()
    const end = (reason: Error) => {
      ended.abort(reason)
      reset(socket)
    }
    const tooMany = new Error('too many local connections at a time')
    const place = this.#places.reserve({ address: socket.remoteAddress ?? '', end: () => end(tooMany) })
    if (place === undefined) {
      this.#failed(tooMany)
      return reset(socket)
    }
    socket.once('close', () => place.release())
    this.#open.add(end)
    const onLeft = () => ended.abort(new Error('the client left'))
    socket.once('close', onLeft)
    const early = new EarlyBytes(socket)
    try {
      const { stream, rest, use } = await this.#reach(ended.signal, { early })
      this.#lastError = undefined
      socket.off('close', onLeft)
      use.traffic.bytesOut += early.finish()
      splice(socket, stream, {
        traffic: use.traffic,
        head: rest,
        shared: sharedBy(this.#components.unwritten.local, stream, this.#components.network),
        onDone: () => {
          use.close()
          this.#open.delete(end)
        },
      })
    } catch (error) {
      this.#open.delete(end)
      if (!ended.signal.aborted) this.#failed(toError(error))
      reset(socket)
    }
  }

  #failed(error: Error): void {
    this.#lastError = error.message
    this.#components.log.debug('local connection failed', { name: this.name, reason: error.message })
  }
}

function addTraffic(sum: Traffic, { bytesIn, bytesOut }: Traffic): void {
  sum.bytesIn += bytesIn
  sum.bytesOut += bytesOut
}

/**
 * The proxy: one local port for HTTP, HTTPS by CONNECT and SOCKS5, told apart by the first byte; what it is asked for
 * leaves through an egress node.
 */
import type { Socket } from 'node:net'
import { type Clock, type Logger, type PeerId, type Random, toError } from '@mesh/core'
import { type LoopBudget, loopBudget, Scope } from '@mesh/core/limits'
import { createLegacyStreams, type LegacyStreams } from '../legacy/open-legacy-stream.ts'
import { LOCAL_CONNECTIONS, PROXY_GREETING_MS } from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'
import { formatEndpoint, parseEndpoint, socketAddressOf } from '../streams/endpoint.ts'
import { EarlyBytes } from '../streams/early-bytes.ts'
import { type Listener, listenFor } from '../streams/listen.ts'
import { pauseReading, readOn } from '../streams/read-sockets.ts'
import { reset, splice, type Traffic } from '../streams/splice.ts'
import { sharedBy, type Unwritten } from '../streams/unwritten.ts'
import type { OwnUser } from '../users/own-user.ts'
import type { OpenedStream } from '../wire/request.ts'
import { createEgressChoice, type EgressChoice } from './choose-egress.ts'
import { createHttpProxy, type HttpProxy } from './http-proxy.ts'
import { type Destination, openLegacyEgress, openTunnel, type TunnelComponents } from './open-tunnel.ts'
import { readStep, type StepRead } from './read-step.ts'
import { encodeReply, readGreeting, readRequest, replyOf, SOCKS_VERSION } from './socks5.ts'

export interface ProxyInit {
  /** `HOST:PORT`, `:PORT` or `unix:PATH`. */
  readonly listen: string
  /** A peer id, a machine's name or its VPN address: leave through nobody else. */
  readonly egressPeer?: string
}

export interface ProxyComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly user: OwnUser
  /** Bounds what waits for local clients: `createUnwritten`. */
  readonly unwritten: Unwritten
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface ProxyStatus {
  readonly listen: string
  /** Whom the last requests left through. */
  readonly egress: PeerId | undefined
  /** How that member is connected; undefined while it is not. */
  readonly path: 'direct' | 'relayed' | undefined
  /** The transport of the newest connection to it: `tcp tls`, or what carries libp2p. */
  readonly transport: string | undefined
  readonly openConnections: number
  /** The number of connections since the start. */
  readonly connections: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly lastError: string | undefined
}

export function createProxy(init: ProxyInit, components: ProxyComponents): Proxy {
  return new Proxy(init, { ...components, log: components.log.child('proxy') })
}

export class Proxy {
  readonly #components: ProxyComponents
  readonly #choice: EgressChoice
  readonly #legacy: LegacyStreams
  readonly #http: HttpProxy
  readonly #budget: LoopBudget
  readonly #traffic: Traffic = { bytesIn: 0, bytesOut: 0 }
  readonly #open = new Set<Socket>()
  readonly #places = new Scope(LOCAL_CONNECTIONS)
  #listen
  #listener: Listener | undefined
  #connections = 0
  /** The tunnel that was opened last. */
  #newest: Pick<OpenedStream['stream'], 'peer' | 'transport'> | undefined
  #lastError: string | undefined

  constructor({ listen, egressPeer }: ProxyInit, components: ProxyComponents) {
    this.#components = components
    this.#listen = parseEndpoint(listen, { isListener: true })
    this.#choice = createEgressChoice(egressPeer, components)
    this.#legacy = createLegacyStreams(components)
    this.#budget = loopBudget(components.clock)
    this.#http = createHttpProxy({
      open: (destination, signal) => this.#tunnel(destination, signal),
      openLegacy: async (signal) => {
        await this.#turn(signal)
        return openLegacyEgress(signal, this.#outward())
      },
      join: (socket, destination, how) => this.#join(socket, destination, how),
      onError: (error) => this.#failed(error),
      traffic: this.#traffic,
      clock: components.clock,
    })
  }

  /** @throws MeshError `services.bad_address`, `services.cannot_listen` */
  async start(): Promise<void> {
    this.#components.user.announce()
    this.#listener = await listenFor(socketAddressOf(this.#listen), (socket) => this.#take(socket))
    if (this.#listen.type !== 'unix' && this.#listener.port !== undefined) {
      this.#listen = { ...this.#listen, port: this.#listener.port }
    }
    this.#components.log.info('proxy listening', { listen: formatEndpoint(this.#listen) })
  }

  stop(): void {
    this.#listener?.close()
    this.#http.stop()
    this.#legacy.stop()
    for (const socket of this.#open) reset(socket)
  }

  status(): ProxyStatus {
    const egress = this.#choice.current
    const connected = egress === undefined ? undefined : this.#components.network.pathOf(egress)
    const isNewest = connected?.path === 'direct' && this.#newest?.peer === egress
    return {
      listen: formatEndpoint(this.#listen),
      egress,
      path: connected?.path,
      transport: (isNewest ? this.#newest?.transport : undefined) ?? connected?.transport,
      openConnections: this.#open.size,
      connections: this.#connections,
      ...this.#traffic,
      lastError: this.#lastError,
    }
  }

  #take(socket: Socket): void {
    socket.on('error', () => {})
    const place = this.#places.reserve({ address: socket.remoteAddress ?? '', end: () => reset(socket) })
    if (place === undefined) return reset(socket)
    this.#open.add(socket)
    this.#connections++
    const cancel = this.#components.clock.after(PROXY_GREETING_MS, () => reset(socket))
    socket.once('close', () => {
      cancel()
      place.release()
      this.#open.delete(socket)
    })
    socket.once('data', (first: Buffer) => {
      cancel()
      pauseReading(socket)
      if (first[0] === SOCKS_VERSION) void this.#serveSocks(socket, first)
      else this.#http.take(socket, first)
    })
    socket.once('end', () => {
      if (socket.bytesRead === 0) socket.end()
    })
    readOn(socket)
  }

  async #serveSocks(socket: Socket, first: Uint8Array): Promise<void> {
    try {
      const { clock } = this.#components
      const greeting = await readStep(socket, first, { read: readGreeting, clock })
      if (greeting.step.kind !== 'methods' || !greeting.step.isAccepted)
        return refuseSocks(socket, greeting.step)
      socket.write(greeting.step.reply)
      const asked = await readStep(socket, greeting.rest, { read: readRequest, clock })
      if (asked.step.kind !== 'connect') return refuseSocks(socket, asked.step)
      await this.#join(socket, asked.step.destination, { answer: encodeReply('ok'), early: asked.rest })
    } catch (error) {
      this.#failed(toError(error))
      if (socket.writable) socket.end(encodeReply(replyOf(error)))
    }
  }

  async #tunnel(destination: Destination, signal: AbortSignal): Promise<OpenedStream> {
    await this.#turn(signal)
    const opened = await openTunnel(destination, signal, this.#outward())
    const { peer, transport } = opened.stream
    this.#newest = { peer, ...(transport !== undefined && { transport }) }
    return opened
  }

  /** Waits for time to open a tunnel; who has left takes none of it. */
  async #turn(signal: AbortSignal): Promise<void> {
    const turn = this.#budget.turn('members', { signal })
    if (turn !== undefined) await turn
    signal.throwIfAborted()
  }

  #outward(): TunnelComponents {
    return { ...this.#components, choice: this.#choice, legacy: this.#legacy }
  }

  /** Opens a tunnel, unless the client leaves before it is there. */
  async #join(
    socket: Socket,
    destination: Destination,
    { answer, early }: { readonly answer: string | Uint8Array; readonly early: Uint8Array },
  ): Promise<void> {
    const left = new AbortController()
    const onLeft = () => left.abort(new Error('the client left'))
    socket.once('close', onLeft)
    socket.once('end', onLeft)
    // it is read meanwhile: its end would not show else
    const bytes = new EarlyBytes(socket)
    try {
      const { stream, rest } = await this.#tunnel(destination, left.signal)
      socket.write(answer)
      if (early.byteLength > 0) stream.send(early)
      bytes.sendTo(stream)
      this.#traffic.bytesOut += bytes.finish()
      const shared = sharedBy(this.#components.unwritten.local, stream, this.#components.network)
      splice(socket, stream, { traffic: this.#traffic, head: rest, shared, onDone: () => {} })
      // whose tunnel came at the moment when it left
      if (socket.destroyed) stream.abort(new Error('the client left'))
    } finally {
      socket.off('close', onLeft)
      socket.off('end', onLeft)
      bytes.finish()
    }
  }

  #failed(error: Error): void {
    this.#lastError = error.message
    this.#components.log.debug('request not served', { reason: error.message })
  }
}

function refuseSocks(socket: Socket, step: StepRead['step']): void {
  if ('reply' in step) socket.end(step.reply)
  else reset(socket)
}

/** The services of one node: what it offers to members, and what of theirs it makes reachable here. */
import type { Duplex } from 'node:stream'
import { BUCKETS, delay, parseProviderKey } from '@mesh/core'
import { type ServicesErrorCode, servicesError } from '../errors.ts'
import { createLegacyStreams } from '../legacy/open-legacy-stream.ts'
import { serveLegacyService } from './serve-legacy-service.ts'
import { MAX_PEER_CONNECTIONS, MAX_SERVICES, WITHDRAW_MS } from '../limits.ts'
import { LEGACY_SERVICE_PROTOCOL, SERVICE_PROTOCOL } from '../protocols.ts'
import { createRefusals } from '../wire/refusals.ts'
import { ConnectedService } from './connected-service.ts'
import { dialService } from './dial-service.ts'
import { parseEndpoint } from '../streams/endpoint.ts'
import { ExposedService } from './exposed-service.ts'
import { findProblems } from './problems.ts'
import { ProviderBook } from './provider-book.ts'
import { serveService } from './serve-services.ts'
import { checkServiceName } from './service-name.ts'
import type { NamedAddress, ServedHere, ServicesComponents, ServicesEvent, ServicesInit } from './services.ts'
import type { ServicesProblem, ServicesStatus } from './status.ts'
import type { ServiceTarget } from './target.ts'

/** Those beyond the bound that is answered with a reason are reset. */
const MAX_PEER_STREAMS = MAX_PEER_CONNECTIONS + 64

export function createServices(init: ServicesInit, components: ServicesComponents): Services {
  return new Services(init, { ...components, log: components.log.child('services') })
}

export class Services {
  readonly #init: ServicesInit
  readonly #components: ServicesComponents
  readonly #refusals
  readonly #legacy
  readonly #providers: ProviderBook
  readonly #exposed = new Map<string, ExposedService>()
  readonly #connected = new Map<string, ConnectedService>()
  readonly #listeners = new Set<(event: ServicesEvent) => void>()
  /** Ends a connection that this process opened with `dial`. */
  readonly #dialled = new Set<(reason: Error) => void>()
  readonly #startedAt: number
  #servesLegacy: Promise<void> | undefined
  #unsubscribe = () => {}
  #stopped = false

  constructor(init: ServicesInit, components: ServicesComponents) {
    this.#init = init
    this.#components = components
    this.#startedAt = components.clock.monotonic()
    this.#refusals = createRefusals(components.log)
    this.#legacy = createLegacyStreams(components)
    this.#providers = new ProviderBook({ isSticky: init.isSticky ?? true }, components)
  }

  /** Serves, and begins with what was given. @throws MeshError `services.*` */
  async start(): Promise<void> {
    const { network, ledger } = this.#components
    const accepting = { ...this.#components, refusals: this.#refusals }
    const options = { from: 'proven', relayed: true, halfClose: true, maxPerPeer: MAX_PEER_STREAMS } as const
    await network.streams.handle(
      SERVICE_PROTOCOL,
      { ...options, bulk: true },
      (stream) => void serveService(stream, (name) => this.#exposed.get(name), accepting),
    )
    this.#unsubscribe = ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      for (const change of event.changes) this.#hear(change)
    })
    for (const service of this.#init.services ?? []) await this.expose(service)
    for (const connection of this.#init.connections ?? []) await this.connect(connection)
  }

  /** Withdraws what was offered, ends every connection. Takes a second at most. Idempotent. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#unsubscribe()
    this.#legacy.stop()
    this.#providers.stop()
    for (const connection of this.#connected.values()) connection.stop()
    for (const end of this.#dialled) end(servicesError('services.stopped', 'this node stops'))
    const withdrawn = [...this.#exposed.values()].map((service) => service.stop())
    // writes that are held must not hold the end up
    const late = new AbortController()
    await Promise.race([
      Promise.all(withdrawn),
      delay(this.#components.clock, WITHDRAW_MS, late.signal).catch(() => {}),
    ])
    late.abort(new Error('withdrawn'))
  }

  /**
   * Offers the target under the name; members see it when the target answers. One TCP or unix service is what legacy
   * members get, whatever name they ask for: the one that was offered first.
   * @throws MeshError `services.bad_name`, `services.bad_address`, `services.name_in_use`, `services.too_many`
   */
  async expose({ name, address }: NamedAddress): Promise<void> {
    this.#check(name, this.#exposed, 'offered')
    await this.#offer(name, parseEndpoint(address))
  }

  /**
   * Offers a service that this process serves, under the name; no port is opened for it.
   * @throws MeshError `services.bad_name`, `services.name_in_use`, `services.too_many`
   */
  async serve({ name, accept, allowHalfOpen }: ServedHere): Promise<void> {
    this.#check(name, this.#exposed, 'offered')
    await this.#offer(name, { type: 'program', accept, allowHalfOpen })
  }

  /**
   * Connects to the member that offers the name now, this node included, without a local port. Waits for a provider for a few
   * seconds. The stream ends both directions when the other side ends.
   * @throws MeshError `services.bad_name`, `services.no_provider`, `services.refused`, `services.stopped`, `p2p.*`; the
   *   signal's reason
   */
  async dial(name: string, signal: AbortSignal): Promise<Duplex> {
    if (this.#stopped) throw servicesError('services.stopped', 'this node stops')
    checkServiceName(name)
    const own = this.#exposed.get(name)
    const init = { name, own, startedAt: this.#startedAt, signal, opened: this.#dialled }
    return await dialService(init, this.#asking())
  }

  async #offer(name: string, target: ServiceTarget): Promise<void> {
    const onChange = () => this.#tellService(name)
    this.#exposed.set(name, new ExposedService(name, target, { ...this.#components, onChange }))
    onChange()
    if (target.type !== 'udp') await this.#serveLegacy()
  }

  /** False: there was none. Resolves when its end is written. */
  async withdraw(name: string): Promise<boolean> {
    const service = this.#exposed.get(name)
    if (service === undefined) return false
    this.#exposed.delete(name)
    await service.stop()
    this.#tellService(name)
    return true
  }

  /**
   * Makes the service of that name reachable at a local address; also when nobody offers it yet.
   * @throws MeshError as `expose`, and `services.cannot_listen`
   */
  async connect({ name, address }: NamedAddress): Promise<void> {
    this.#check(name, this.#connected, 'connected to')
    const listen = parseEndpoint(address, { isListener: true })
    const onChange = () => this.#tellConnection(name)
    this.#components.user.announce()
    const connection = new ConnectedService(name, listen, {
      ...this.#asking(),
      onChange,
    })
    this.#connected.set(name, connection)
    try {
      await connection.start()
    } catch (error) {
      this.#connected.delete(name)
      connection.stop()
      throw error
    }
    onChange()
  }

  /** False: there was none. */
  disconnect(name: string): boolean {
    const connection = this.#connected.get(name)
    this.#connected.delete(name)
    connection?.stop()
    if (connection !== undefined) this.#tellConnection(name)
    return connection !== undefined
  }

  status(): ServicesStatus {
    return {
      services: [...this.#exposed.values()].map((service) => service.status()),
      connections: [...this.#connected.values()].map((connection) => connection.status()),
      refusals: this.#refusals.counts(),
    }
  }

  problems(): readonly ServicesProblem[] {
    return findProblems(this.status())
  }

  subscribe(listener: (event: ServicesEvent) => void): () => void {
    const own = (event: ServicesEvent) => listener(event)
    this.#listeners.add(own)
    return () => this.#listeners.delete(own)
  }

  #check(name: string, taken: ReadonlyMap<string, unknown>, word: string): void {
    if (this.#stopped) throw servicesError('services.stopped', 'this node stops')
    checkServiceName(name)
    const refuse = (code: ServicesErrorCode, message: string, hint: string) => {
      throw servicesError(code, message, { hint })
    }
    if (taken.has(name)) refuse('services.name_in_use', `"${name}" is ${word} already`, 'End that first.')
    if (taken.size >= MAX_SERVICES) {
      refuse('services.too_many', `more than ${MAX_SERVICES} are ${word}`, 'End one that is not needed.')
    }
  }

  /**
   * Serves the protocol from the first service on: a node that offers nothing does not say that it speaks
   * their protocol.
   */
  #serveLegacy(): Promise<void> {
    const accepting = { ...this.#components, refusals: this.#refusals }
    const options = { from: 'heard', relayed: true, halfClose: true, maxPerPeer: MAX_PEER_STREAMS } as const
    const first = () => [...this.#exposed.values()].find(({ kind }) => kind === 'stream')
    this.#servesLegacy ??= this.#components.network.streams.handle(
      LEGACY_SERVICE_PROTOCOL,
      options,
      (stream) => void serveLegacyService(stream, first(), accepting),
    )
    return this.#servesLegacy
  }

  /** Gives the parts that connections to services of members need. */
  #asking() {
    return { ...this.#components, legacy: this.#legacy, providers: this.#providers }
  }

  #hear({ bucket, key }: { readonly bucket: string; readonly key: string }): void {
    const name =
      bucket === BUCKETS.services
        ? key
        : bucket === BUCKETS.providers && key.endsWith(` ${this.#components.ledger.self}`)
          ? parseProviderKey(key)?.name
          : undefined
    if (name === undefined) return
    this.#tellService(name)
  }

  #tellService(name: string): void {
    this.#tell({ type: 'service', name, status: this.#exposed.get(name)?.status() })
  }

  #tellConnection(name: string): void {
    this.#tell({ type: 'connection', name, status: this.#connected.get(name)?.status() })
  }

  #tell(event: ServicesEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

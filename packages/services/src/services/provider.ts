/**
 * Who offers a name now, and being connected to some of them. Follows the ledger: another owner is another provider. While
 * there are providers, connections to the best ones are kept, so that local connections find them made and go elsewhere at
 * once when a provider dies.
 */
import {
  BUCKETS,
  type Clock,
  parseProviderKey,
  type PeerId,
  type Random,
  toError,
  untilAborted,
} from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import { servicesError } from '../errors.ts'
import { findProviders } from '../find-provider.ts'
import {
  CONNECTED_PROVIDERS,
  LIVENESS_LOOK_MS,
  MAX_PROVIDERS,
  RECONNECT_LEAST_MS,
  RECONNECT_MOST_MS,
} from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'
import { type Provider, rankOf } from './choose-provider.ts'
import type { OfferRules } from '../users/offer-rules.ts'
import { findPoolServices, poolBucketOf } from './pool.ts'
import { isSame, type ProviderBook } from './provider-book.ts'

export interface ProviderComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly providers: ProviderBook
  /** Undefined: every member may offer everything. */
  readonly rules?: OfferRules | undefined
  readonly clock: Clock
  readonly random: Random
  /** The provider in use, how it is connected, or the number of providers is another now. */
  readonly onChange: () => void
}

/** A connection that is being made to one provider. */
interface Dial {
  readonly backoff: Backoff
  isRunning: boolean
}

export class ProviderWatch {
  lastError: string | undefined
  readonly #name: string
  /** Undefined for the name of one service. */
  readonly #pool: string | undefined
  /** The part of a large pool that this node looks at. */
  readonly #poolOffset: number
  readonly #components: ProviderComponents
  readonly #ended = new AbortController()
  readonly #waiting = new Set<(provider: Provider) => void>()
  readonly #dials = new Map<PeerId, Dial>()
  readonly #unsubscribe: readonly (() => void)[]
  #candidates: readonly Provider[] = []
  #current: Provider | undefined
  /** True while members offer the name, and access rules let this node use none of them. */
  #isRefused = false
  #told = ''
  #cancelLook = () => {}

  constructor(name: string, components: ProviderComponents) {
    this.#name = name
    this.#pool = poolBucketOf(name)
    this.#poolOffset = components.random.float()
    this.#components = components
    this.#unsubscribe = [
      components.ledger.subscribe((event) => {
        const concerns = event.type === 'committed' && event.changes.some((change) => this.#isOurs(change))
        if (concerns || event.type === 'admission') this.#look()
      }),
      components.rules?.onChange(() => this.#look()) ?? (() => {}),
      components.network.onPath((peer) => {
        if (this.#candidates.some((each) => each.peer === peer)) this.#look()
      }),
    ]
    // not before the caller has the watch: `onChange` may read it
    queueMicrotask(() => this.#look())
  }

  /** The one that the next connection goes to. Undefined: nobody who is alive offers the name. */
  get provider(): PeerId | undefined {
    return this.#current?.peer
  }

  /** The name under which the provider offers it: of a pool, one of its services. */
  get service(): string {
    return this.#current?.service ?? this.#name
  }

  /** The number of live members that offer the name. */
  get count(): number {
    return new Set(this.#candidates.map(({ peer }) => peer)).size
  }

  /** Chooses a provider for a new connection; undefined while none is connected. */
  pick(): Provider | undefined {
    const { network, providers } = this.#components
    const connected = this.#candidates.filter(({ peer }) => network.pathOf(peer) !== undefined)
    return providers.choose(this.#name, connected)
  }

  /** True when a provider other than this one is connected and has not failed lately. */
  hasOther(than: Provider): boolean {
    const { providers } = this.#components
    return this.#candidates.some((each) => {
      if (isSame(each, than)) return false
      const { hasFailed, path } = providers.stateOf(each)
      return !hasFailed && path !== undefined
    })
  }

  /** A connection reached the provider: the name stays with it. */
  worked(provider: Provider): void {
    this.#components.providers.worked(this.#name, provider)
    if (this.#current === undefined || !isSame(this.#current, provider)) this.#look()
  }

  /** The provider could not be reached, or refused. */
  failed(provider: Provider): void {
    this.#components.providers.failed(provider)
    this.#look()
  }

  /** Resolves with a connected provider. @throws MeshError `services.refused` by access rules; the signal's reason */
  connected(signal: AbortSignal): Promise<Provider> {
    // somebody waits: the next try comes sooner than the backoff would have it
    for (const { backoff } of this.#dials.values()) backoff.hasten(RECONNECT_LEAST_MS)
    const { promise, resolve } = Promise.withResolvers<Provider>()
    this.#waiting.add(resolve)
    this.#look()
    if (this.#isRefused) {
      this.#waiting.delete(resolve)
      this.#refuse()
    }
    return untilAborted(promise, signal).finally(() => this.#waiting.delete(resolve))
  }

  stop(): void {
    this.#ended.abort(servicesError('services.stopped', 'stopped'))
    this.#cancelLook()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  /** @throws MeshError `services.refused` */
  #refuse(): never {
    throw servicesError(
      'services.refused',
      `access rules let this node use no member that offers "${this.#name}"`,
      { details: { answer: 'forbidden' }, hint: '`mesh rules who MEMBER` lists who may reach a member.' },
    )
  }

  #isOurs({ bucket, key }: { readonly bucket: string; readonly key: string }): boolean {
    if (bucket === this.#pool) return true
    const isCandidate = (name: string) => this.#candidates.some(({ service }) => service === name)
    if (bucket === BUCKETS.services) return key === this.#name || isCandidate(key)
    if (bucket === BUCKETS.healthcheck) return this.#isMember(key)
    return bucket === BUCKETS.providers && parseProviderKey(key)?.name === this.#name
  }

  /** Does the peer offer the name, alive or not? */
  #isMember(peer: string): boolean {
    if (this.#candidates.some((each) => each.peer === peer)) return true
    const owner = this.#components.ledger.snapshot().getLive(BUCKETS.services, this.#name)?.owner
    return owner === peer
  }

  #look(): void {
    if (this.#ended.signal.aborted) return
    this.#cancelLook()
    const { network, providers, clock, onChange } = this.#components
    this.#candidates = this.#find()
    const ready = this.pick()
    this.#current = ready ?? this.#stay() ?? providers.choose(this.#name, this.#candidates)
    if (ready !== undefined) this.#wake(ready)
    this.#keepConnected()
    this.#cancelLook = clock.after(Math.min(LIVENESS_LOOK_MS, this.#nextDialMs()), () => this.#look())
    const path = this.#current && network.pathOf(this.#current.peer)?.path
    const told = `${this.#current?.peer} ${this.#current?.service} ${path} ${this.count}`
    if (told === this.#told) return
    this.#told = told
    onChange()
  }

  /** The current provider, while nobody is connected and it has not failed. */
  #stay(): Provider | undefined {
    const current = this.#current
    if (current === undefined || this.#components.providers.stateOf(current).hasFailed) return undefined
    return this.#candidates.find((each) => isSame(each, current))
  }

  /** Other members that offer the name; this node only where nobody else does. */
  #find(): readonly Provider[] {
    const { ledger } = this.#components
    if (this.#pool !== undefined) return this.#findPool(this.#pool)
    const { allowed: peers, areOthersRefused } = findProviders(this.#name, this.#components)
    this.#isRefused = peers.length === 0 && areOthersRefused
    const others = peers.filter((peer) => peer !== ledger.self)
    return (others.length > 0 ? others : peers).map((peer) => ({ peer, service: this.#name }))
  }

  #findPool(pool: string): readonly Provider[] {
    const all = findPoolServices(pool, this.#components).map(({ service, provider }) => ({
      peer: provider,
      service,
    }))
    const from = Math.floor(this.#poolOffset * Math.max(0, all.length - MAX_PROVIDERS))
    return all.slice(from, from + MAX_PROVIDERS)
  }

  #wake(provider: Provider): void {
    const { network } = this.#components
    this.lastError = undefined
    network.streams.prepare(provider.peer)
    for (const resolve of this.#waiting) resolve(provider)
    this.#waiting.clear()
  }

  /** Keeps connections to the provider in use and the best others. */
  #keepConnected(): void {
    const { network } = this.#components
    const wanted = this.#best()
    for (const peer of this.#dials.keys()) if (!wanted.includes(peer)) this.#dials.delete(peer)
    for (const peer of wanted) {
      if (network.pathOf(peer) === undefined) void this.#connect(peer)
      else this.#dials.get(peer)?.backoff.succeeded()
    }
  }

  #best(): readonly PeerId[] {
    const { providers } = this.#components
    const current = this.#current
    const order = this.#candidates
      .map((provider) => ({ provider, rank: rankOf(providers.stateOf(provider)) }))
      .toSorted((a, b) => a.rank - b.rank)
      .map(({ provider }) => provider.peer)
    const peers = new Set(current === undefined ? order : [current.peer, ...order])
    return [...peers].slice(0, CONNECTED_PROVIDERS)
  }

  async #connect(peer: PeerId): Promise<void> {
    const { network, providers } = this.#components
    const dial = this.#dials.get(peer) ?? { backoff: this.#createBackoff(), isRunning: false }
    this.#dials.set(peer, dial)
    if (dial.isRunning || dial.backoff.remainingMs() > 0) return
    if (peer === network.self) {
      this.lastError = 'this node offers the service itself'
      return
    }
    dial.isRunning = true
    try {
      await network.connect(peer, this.#ended.signal)
      // it closed again
      if (network.pathOf(peer) === undefined) dial.backoff.failed()
    } catch (error) {
      if (this.#current?.peer === peer) this.lastError = toError(error).message
      for (const each of this.#candidates) if (each.peer === peer) providers.failed(each)
      dial.backoff.failed()
    }
    dial.isRunning = false
    this.#look()
  }

  #createBackoff(): Backoff {
    return createBackoff({ leastMs: RECONNECT_LEAST_MS, mostMs: RECONNECT_MOST_MS }, this.#components)
  }

  /** The time until the first dial that waits, in ms. */
  #nextDialMs(): number {
    const waits = [...this.#dials.values()].map(({ backoff }) => backoff.remainingMs() || LIVENESS_LOOK_MS)
    return Math.min(LIVENESS_LOOK_MS, ...waits)
  }
}

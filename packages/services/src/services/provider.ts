/**
 * Who offers a name now, and being connected to it. Follows the ledger: another owner is another provider. While there
 * is one, a connection to it is kept, so that local connections find it made.
 */
import { BUCKETS, type Clock, type PeerId, type Random, toError, untilAborted } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import { servicesError } from '../errors.ts'
import { findProvider } from '../find-provider.ts'
import { LIVENESS_LOOK_MS, RECONNECT_LEAST_MS, RECONNECT_MOST_MS } from '../limits.ts'
import type { ServicesLedger, ServicesNetwork } from '../ports.ts'
import { findPoolServices, poolBucketOf } from './pool.ts'

export interface ProviderComponents {
  readonly ledger: ServicesLedger
  readonly network: ServicesNetwork
  readonly clock: Clock
  readonly random: Random
  /** `provider`, or how it is connected, is another now. */
  readonly onChange: () => void
}

export class ProviderWatch {
  /** Undefined: nobody who is alive offers the name. */
  provider: PeerId | undefined
  /** The name under which the provider offers it: of a pool, one of its services. */
  service: string
  lastError: string | undefined
  readonly #name: string
  /** Undefined for the name of one service. */
  readonly #pool: string | undefined
  /** The service of the pool that could not be reached last. */
  #unreachable: string | undefined
  readonly #components: ProviderComponents
  readonly #backoff: Backoff
  readonly #ended = new AbortController()
  readonly #waiting = new Set<(peer: PeerId) => void>()
  readonly #unsubscribe: readonly (() => void)[]
  #wasConnected = false
  #isDialling = false
  #cancelLook = () => {}

  constructor(name: string, components: ProviderComponents) {
    this.#name = name
    this.service = name
    this.#pool = poolBucketOf(name)
    this.#components = components
    this.#backoff = createBackoff({ leastMs: RECONNECT_LEAST_MS, mostMs: RECONNECT_MOST_MS }, components)
    this.#unsubscribe = [
      components.ledger.subscribe((event) => {
        const concerns = event.type === 'committed' && event.changes.some((change) => this.#isOurs(change))
        if (concerns || event.type === 'admission') this.#look()
      }),
      components.network.onPath((peer) => {
        if (peer === this.provider) this.#look()
      }),
    ]
    // not before the caller has the watch: `onChange` may read it
    queueMicrotask(() => this.#look())
  }

  /** The provider, while it is connected. */
  get ready(): PeerId | undefined {
    return this.#wasConnected ? this.provider : undefined
  }

  /** Resolves with a connected provider. @throws the signal's reason */
  connected(signal: AbortSignal): Promise<PeerId> {
    const { promise, resolve } = Promise.withResolvers<PeerId>()
    this.#waiting.add(resolve)
    // somebody waits: the next try comes sooner than the backoff would have it
    this.#backoff.hasten(RECONNECT_LEAST_MS)
    this.#look()
    return untilAborted(promise, signal).finally(() => this.#waiting.delete(resolve))
  }

  stop(): void {
    this.#ended.abort(servicesError('services.stopped', 'stopped'))
    this.#cancelLook()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  #isOurs({ bucket, key }: { readonly bucket: string; readonly key: string }): boolean {
    if (bucket === this.#pool) return true
    if (bucket === BUCKETS.services) return key === this.service
    return bucket === BUCKETS.healthcheck && key === ownerOf(this.service, this.#components.ledger)
  }

  #look(): void {
    if (this.#ended.signal.aborted) return
    this.#cancelLook()
    const { network, clock, onChange } = this.#components
    const found = this.#find()
    const isConnected = found !== undefined && network.pathOf(found) !== undefined
    const isChanged = found !== this.provider || isConnected !== this.#wasConnected
    if (found !== this.provider) this.#backoff.succeeded()
    this.provider = found
    this.#wasConnected = isConnected
    if (isConnected) this.#wake(found)
    else if (found !== undefined) void this.#connect(found)
    const waitMs = this.#backoff.remainingMs() || LIVENESS_LOOK_MS
    this.#cancelLook = clock.after(Math.min(LIVENESS_LOOK_MS, waitMs), () => this.#look())
    if (isChanged) onChange()
  }

  #find(): PeerId | undefined {
    if (this.#pool === undefined) return findProvider(BUCKETS.services, this.#name, this.#components)
    const all = findPoolServices(this.#pool, this.#components)
    const reachable = all.filter(({ service }) => service !== this.#unreachable)
    const some = reachable.length > 0 ? reachable : all
    const at = Math.floor(this.#components.random.float() * some.length)
    const chosen = some.find(({ service }) => service === this.service) ?? some[at]
    if (chosen !== undefined) this.service = chosen.service
    return chosen?.provider
  }

  #wake(peer: PeerId): void {
    this.#backoff.succeeded()
    this.#unreachable = undefined
    this.lastError = undefined
    this.#components.network.streams.prepare(peer)
    for (const resolve of this.#waiting) resolve(peer)
    this.#waiting.clear()
  }

  async #connect(peer: PeerId): Promise<void> {
    if (this.#isDialling || this.#backoff.remainingMs() > 0) return
    const { network } = this.#components
    if (peer === network.self) {
      this.lastError = 'this node offers the service itself'
      return
    }
    this.#isDialling = true
    try {
      await network.connect(peer, this.#ended.signal)
    } catch (error) {
      this.lastError = toError(error).message
      this.#unreachable = this.service
      this.#backoff.failed()
    }
    this.#isDialling = false
    this.#look()
  }
}

function ownerOf(name: string, ledger: ServicesLedger): string | undefined {
  return ledger.snapshot().getLive(BUCKETS.services, name)?.owner
}

/**
 * Finds routers by UPnP for libp2p's port mapping, in place of `@achingbrain/nat-port-mapper` 4.0.5 and `@achingbrain/ssdp`
 * 4.2.4. Those read anything from any address of the local network without bounds, end the process at a datagram that is
 * no answer, and take no socket or fetch from outside.
 *
 * 1. Search: an answer counts only for its own address, on a link of this machine.
 * 2. Describe: a few at a time, an address once a minute.
 * 3. Map at the routers: a few at a time, the default router always.
 */
import { EventEmitter, on } from 'node:events'
import type { FindGatewaysOptions } from '@achingbrain/nat-port-mapper'
import { BoundedMap, type Clock, type Logger, type Random, withDeadline } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import {
  MAX_UPNP_ROUTERS,
  MAX_UPNP_ROUTERS_EVER,
  UPNP_ANSWER_MS,
  UPNP_DESCRIBE_AGAIN_MS,
  UPNP_DESCRIPTIONS,
  UPNP_SEARCHES,
} from '../limits.ts'
import { controlIn, type RouterControl } from './upnp-messages.ts'
import { askRouter } from './upnp-request.ts'
import { type MappingRouter, UpnpRouter } from './upnp-router.ts'
import { type FoundRouter, type LocalNetwork, type SearchInit, UpnpSearch } from './upnp-search.ts'

interface UpnpClientComponents {
  readonly clock: Clock
  readonly logger: Logger
  readonly random: Random
  /** The local network as it is now. */
  readonly network: () => LocalNetwork
  /** Begins a search; by SSDP unless given. */
  readonly openSearch?: (init: SearchInit, clock: Clock) => Pick<UpnpSearch, 'ask' | 'close'>
}

const bySsdp = (init: SearchInit, clock: Clock) => new UpnpSearch(init, clock)

const isAborted = (signal: AbortSignal | undefined) => signal?.aborted === true

/** The pause between two questions of a search, in ms, where nobody says. */
const SEARCH_INTERVAL_MS = 10_000

export class UpnpClient {
  readonly #components: UpnpClientComponents
  readonly #log: Logger
  /** Those that were handed out, by address; libp2p never lets go of one. */
  readonly #routers = new Map<string, UpnpRouter>()
  /** When each address was asked for its description last, in monotonic ms. */
  readonly #askedMs = new BoundedMap<string, number>(MAX_UPNP_ROUTERS_EVER)
  readonly #searches: TokenBucket
  readonly #descriptions: TokenBucket
  #describing = 0

  constructor(components: UpnpClientComponents) {
    this.#components = components
    this.#log = components.logger.child('upnp')
    this.#searches = createTokenBucket(UPNP_SEARCHES, components.clock)
    this.#descriptions = createTokenBucket(UPNP_DESCRIPTIONS, components.clock)
  }

  async *findGateways(options: FindGatewaysOptions = {}): AsyncGenerator<MappingRouter, void> {
    const { signal, searchInterval = SEARCH_INTERVAL_MS } = options
    if (!this.#searches.take()) return
    const found = new EventEmitter()
    const { clock, network, openSearch = bySsdp } = this.#components
    const over = new AbortController()
    const onRouter = (router: FoundRouter) => void this.#onRouter(router, { found, signal: over.signal })
    const search = openSearch({ network: network(), onRouter }, clock)
    let cancel = () => {}
    const askAgain = () => {
      if (this.#searches.take()) search.ask()
      cancel = clock.after(searchInterval, askAgain)
    }
    cancel = clock.after(searchInterval, askAgain)
    try {
      for await (const [router] of on(found, 'router', { ...(signal && { signal }) }))
        yield router as UpnpRouter
    } catch (error) {
      if (!isAborted(signal)) throw error
    } finally {
      cancel()
      search.close()
      over.abort(new Error('the search is over'))
    }
  }

  getGateway(): Promise<never> {
    return Promise.reject(new Error('routers are searched for, and not named'))
  }

  async #onRouter(
    { location, isDefault }: FoundRouter,
    { found, signal }: { readonly found: EventEmitter; readonly signal: AbortSignal },
  ): Promise<void> {
    const address = location.hostname
    if (!this.#mayDescribe(address, isDefault)) return
    this.#describing++
    try {
      const control = await this.#describe(location, signal)
      const known = this.#routers.get(address)
      if (known === undefined && !this.#hasSeat(isDefault)) return
      const router = known ?? new UpnpRouter(control, this.#components)
      router.foundAgain(control)
      this.#routers.set(address, router)
      this.#log.debug('router found', { address })
      found.emit('router', router)
    } catch (error) {
      if (signal.aborted) this.#askedMs.delete(address)
      else this.#log.debug('no router there', { address, reason: String(error) })
    } finally {
      this.#describing--
    }
  }

  /** The default router is always asked; of others few, and only as long as one more may be handed out. */
  #mayDescribe(address: string, isDefault: boolean): boolean {
    const nowMs = this.#components.clock.monotonic()
    const askedMs = this.#askedMs.get(address)
    if (askedMs !== undefined && nowMs - askedMs < UPNP_DESCRIBE_AGAIN_MS) return false
    if (!isDefault) {
      if (this.#describing >= MAX_UPNP_ROUTERS) return false
      if (!this.#routers.has(address) && !this.#hasSeat(isDefault)) return false
      if (!this.#descriptions.take()) return false
    }
    this.#askedMs.set(address, nowMs)
    return true
  }

  /** True where one more router may be handed out: one place is the default router's. */
  #hasSeat(isDefault: boolean): boolean {
    if (isDefault) return true
    const present = [...this.#routers.values()].filter(({ isGone }) => !isGone)
    return present.length < MAX_UPNP_ROUTERS - 1 && this.#routers.size < MAX_UPNP_ROUTERS_EVER
  }

  async #describe(location: URL, signal: AbortSignal): Promise<RouterControl> {
    const { clock } = this.#components
    const reason = () => new Error('the router does not answer')
    const { status, text } = await withDeadline({ clock, ms: UPNP_ANSWER_MS, reason, signal }, (timed) =>
      askRouter(location, timed),
    )
    const control = status === 200 ? controlIn(text, location) : undefined
    if (control === undefined) throw new Error('the router maps no ports')
    return control
  }
}

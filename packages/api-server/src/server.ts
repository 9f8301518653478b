import type { NodeFactsView } from '@mesh/api-contract'
import type { Logger } from '@mesh/core'
import { createRate, loopBudget, Scope } from '@mesh/core/limits'
import type { Express } from 'express'
import { createAuthenticator } from './auth/authenticator.ts'
import { createEventHub, type EventHub } from './events/event-hub.ts'
import { createReaderPlaces } from './messages/reader-places.ts'
import {
  publishAccessEvents,
  publishRefusals,
  publishLedgerEvents,
  publishNetworkEvents,
  publishOfferEvents,
  publishPathEvents,
  publishRefused,
} from './events/event-sources.ts'
import { watchMachines } from './events/machine-watch.ts'
import type { Handlers } from './handlers/handler.ts'
import { createAccess } from './handlers/access.ts'
import { createRulesHandlers } from './handlers/rules.ts'
import { createBlockReads } from './handlers/block-reads.ts'
import { createDnsReads } from './handlers/dns-reads.ts'
import { createLeaseHandlers } from './handlers/leases.ts'
import { createLedgerReads } from './handlers/ledger-reads.ts'
import { KeptWrites } from './handlers/kept-writes.ts'
import { createLedgerWrites } from './handlers/ledger-writes.ts'
import { createOperation } from './handlers/operation.ts'
import { createNodeReads, withExposure } from './handlers/node-reads.ts'
import { createOfferHandlers } from './handlers/node-offers.ts'
import { createPeers } from './handlers/peers.ts'
import { createVpnReads } from './handlers/vpn-reads.ts'
import { TrafficHistory } from './history/traffic-history.ts'
import { createApp, type ListenerKind } from './http/app.ts'
import { createProfiles } from './http/profiles.ts'
import { createGuard, type GuardInit } from './http/guard.ts'
import { EVENT_READERS, LARGE_ANSWER_READERS, MAX_RATED_ADDRESSES, UNREAD_BODIES, WRITES } from './limits.ts'
import type { ListenAddress } from './listen/listen-address.ts'
import { type ApiListener, openListener } from './listen/open-listener.ts'
import type { OffersPort } from './offers-port.ts'
import type { ApiServerComponents, NetworkPort } from './ports.ts'
import type { VpnPort } from './vpn-port.ts'
import { formatMetrics } from './views/exposition.ts'
import { keepBlocks, type KeptBlocks } from './views/kept-blocks.ts'
import { createLedgerTexts, type LedgerTexts, type ValueForm } from './views/ledger-text.ts'
import { MachineList } from './views/machine-list.ts'
import type { Scene } from './views/members.ts'
import { healthMetric, ledgerMetrics, networkMetrics } from './views/own-metrics.ts'
import { createRequestCounts } from './views/request-counts.ts'

export interface ApiServerInit extends GuardInit {
  /** How ledger reads give values where a request does not say (`?values=`); default `json`. */
  readonly values?: ValueForm
  /** `--api-read-only`: writes are refused, but on the control socket. */
  readonly isReadOnly?: boolean
}

/** The API of one node, on any number of listeners. */
export interface ApiServer {
  /** @throws MeshError with a ListenErrorCode */
  listen(address: ListenAddress): Promise<ApiListener>
  /** The network, when it stands after the API does. Once. */
  attachNetwork(network: NetworkPort): void
  /** The VPN, when this node runs one: until then `/api/vpn` is 404. Once. */
  attachVpn(vpn: VpnPort): void
  /**
   * Attaches what the node offers, once it has joined; until then `/api/node/...` is 503. May be called once.
   */
  attachOffers(offers: OffersPort): void
  /** Takes back the writes that the node renews. Call it while the network stands, so that members hear of it. */
  endKeptWrites(): Promise<void>
  /** Ends event streams, closes all listeners. Idempotent. */
  stop(): Promise<void>
}

/** Nothing listens until `listen`. */
export function createApiServer(init: ApiServerInit, components: ApiServerComponents): ApiServer {
  return new ExpressApiServer(init, components)
}

class ExpressApiServer implements ApiServer {
  readonly #components: ApiServerComponents
  readonly #logger: Logger
  readonly #listeners = new Set<ApiListener>()
  readonly #hub: EventHub
  readonly #counts = createRequestCounts()
  readonly #texts: LedgerTexts
  readonly #machines: MachineList
  readonly #kept: KeptWrites
  readonly #blocks: KeptBlocks
  readonly #ends: (() => unknown)[]
  readonly #startedAt: number
  /** The start by the monotonic clock, for the uptime. */
  readonly #startedMs: number
  readonly #isReadOnly: boolean
  readonly #appFor: (kind: ListenerKind) => Express
  #network: NetworkPort | undefined
  #history: TrafficHistory | undefined
  #vpn: VpnPort | undefined
  #offers: OffersPort | undefined

  constructor(init: ApiServerInit, components: ApiServerComponents) {
    const { ledger, clock, random, assets, debug, tokens } = components
    const isReadOnly = init.isReadOnly ?? false
    this.#components = components
    this.#startedAt = clock.now()
    this.#startedMs = clock.monotonic()
    this.#logger = components.logger.child('api')
    this.#hub = createEventHub({ clock, random })
    this.#texts = createLedgerTexts(ledger)
    const budget = loopBudget(clock)
    this.#machines = new MachineList(ledger, budget)
    this.#kept = new KeptWrites(ledger, clock)
    this.#blocks = keepBlocks(ledger)
    const app = {
      handlers: this.#createHandlers(init.values ?? 'json'),
      hub: this.#hub,
      eventReaders: createReaderPlaces(EVENT_READERS),
      largeReaders: createReaderPlaces(LARGE_ANSWER_READERS),
      bodies: new Scope(UNREAD_BODIES),
      clock,
      guard: createGuard(init),
      authenticator: createAuthenticator({ tokens, isReadOnly }, clock),
      writes: createRate({ perAddress: WRITES, maxRemembered: MAX_RATED_ADDRESSES }, clock),
      counts: this.#counts,
      assets,
      browserMembers: components.browserMembers,
      profiles: debug === undefined ? undefined : createProfiles(debug),
      logger: this.#logger,
      random,
    }
    this.#isReadOnly = isReadOnly
    this.#appFor = (kind) => createApp(app, kind)
    this.#ends = [
      publishLedgerEvents(ledger, this.#hub, clock),
      watchMachines(ledger, this.#scene, { hub: this.#hub, clock, budget }),
      () => this.#machines.stop(),
      this.#blocks.stop,
      ledger.subscribe((event) => event.type === 'committed' && this.#texts.forget()),
    ]
    if (components.access !== undefined) this.#ends.push(publishAccessEvents(components.access, this.#hub))
    if (components.rules !== undefined) this.#ends.push(publishRefusals(components.rules, this.#hub, clock))
    if (components.network !== undefined) this.attachNetwork(components.network)
  }

  attachNetwork(network: NetworkPort): void {
    this.#network = network
    this.#ends.push(publishNetworkEvents(network, this.#hub))
    const { traffic } = network
    if (traffic === undefined) return
    const history = new TrafficHistory({ traffic, vpn: () => this.#vpn, clock: this.#components.clock })
    this.#history = history
    this.#ends.push(() => history.stop())
  }

  attachVpn(vpn: VpnPort): void {
    this.#vpn = vpn
    this.#ends.push(publishPathEvents(vpn, this.#hub))
  }

  attachOffers(offers: OffersPort): void {
    this.#offers = offers
    this.#ends.push(publishOfferEvents(offers, this.#hub))
  }

  async listen(address: ListenAddress): Promise<ApiListener> {
    const { clock, random } = this.#components
    const isControl = address.kind === 'unix' && address.isControl === true
    const appFor = (kind: 'tcp' | 'unix') => this.#appFor(isControl ? 'control' : kind)
    const opened = await openListener(address, { clock, random, appFor })
    const close = () => {
      this.#listeners.delete(listener)
      return opened.close()
    }
    const listener: ApiListener = { ...opened, close }
    this.#listeners.add(listener)
    const { url } = listener
    this.#logger.debug('api listens', { url })
    if (listener.isExposed && this.#components.tokens === undefined) {
      this.#logger.warn(
        `anyone who reaches this address may ${this.#mayDo()}: --api-token-file asks for tokens`,
        { url },
      )
    }
    return listener
  }

  endKeptWrites(): Promise<void> {
    return this.#kept.stop()
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0)) end()
    this.#hub.stop()
    await Promise.all([...this.#listeners].map((listener) => listener.close()))
  }

  #mayDo(): string {
    return this.#isReadOnly ? 'read' : 'read and write'
  }

  #createHandlers(values: ValueForm): Handlers {
    const { ledger, clock, dns, version, health, access, rules, tokens } = this.#components
    const scene = this.#scene
    return {
      ...createLedgerReads(scene, () => this.#texts.last(), values),
      ...createLedgerWrites({
        ledger,
        kept: this.#kept,
        clock,
        onRefused: publishRefused(ledger, this.#hub),
      }),
      ...createBlockReads(this.#blocks),
      ...createLeaseHandlers(this.#components.leases),
      ...createOfferHandlers(() => this.#offers),
      ...createDnsReads(dns),
      ...createAccess(access),
      ...createRulesHandlers(rules),
      ...createOperation(this.#components),
      ...createVpnReads({ scene, vpn: () => this.#vpn, clock }),
      ...createPeers({ scene, clock }),
      ...createNodeReads({
        network: () => this.#network,
        history: () => this.#history,
        version,
        facts: () => this.#facts(),
        health: tokens === undefined ? withExposure(health, this.#listeners, () => this.#mayDo()) : health,
        exposition: () => this.#exposition(),
        clock: this.#components.clock,
      }),
    }
  }

  readonly #scene = (): Scene => {
    const { ledger, clock } = this.#components
    const [network, vpn] = [this.#network, this.#vpn]
    const [snapshot, machines] = [ledger.snapshot(), this.#machines]
    return { snapshot, machines, self: ledger.self, network, vpn, now: clock.now() }
  }

  #facts(): NodeFactsView {
    const { ledger, clock, node, version } = this.#components
    return {
      Name: node?.name ?? '',
      PeerID: ledger.self,
      Network: node?.networkId ?? '',
      Instance: node?.instance ?? '',
      Listen: [...this.#listeners].map(({ url }) => url),
      Version: version.version,
      StartedAt: new Date(this.#startedAt).toISOString(),
      UptimeSeconds: Math.max(0, Math.floor((clock.monotonic() - this.#startedMs) / 1_000)),
      HasVpn: node?.hasVpn ?? this.#vpn !== undefined,
      Ownership: ledger.mode,
    }
  }

  #exposition(): string {
    return formatMetrics([
      healthMetric(this.#components.health.problems()),
      ...ledgerMetrics(this.#components.ledger),
      ...(this.#network === undefined ? [] : networkMetrics(this.#network)),
      this.#counts.metric(),
      ...(this.#components.metrics?.() ?? []),
    ])
  }
}

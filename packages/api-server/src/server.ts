import type { NodeFactsView } from '@mesh/api-contract'
import { createRateLimiter } from '@mesh/core'
import { createEventHub } from './events/event-hub.ts'
import {
  publishLedgerEvents,
  publishNetworkEvents,
  publishOfferEvents,
  publishRefused,
} from './events/event-sources.ts'
import { watchMachines } from './events/machine-watch.ts'
import type { Handlers } from './handlers/handler.ts'
import { createDnsReads } from './handlers/dns-reads.ts'
import { createLedgerReads } from './handlers/ledger-reads.ts'
import { createLedgerWrites } from './handlers/ledger-writes.ts'
import { createNodeReads } from './handlers/node-reads.ts'
import { createNodeOffers } from './handlers/node-offers.ts'
import { createPeerReads } from './handlers/peer-reads.ts'
import { createVpnReads } from './handlers/vpn-reads.ts'
import { createApp } from './http/app.ts'
import { createGuard, type GuardInit } from './http/guard.ts'
import { MAX_RATED_ADDRESSES, WRITE_BURST, WRITES_PER_SECOND } from './limits.ts'
import { withExposure } from './listen/exposure.ts'
import type { ListenAddress } from './listen/listen-address.ts'
import { type ApiListener, openListener } from './listen/open-listener.ts'
import type { ApiServerComponents, NetworkPort, OffersPort, VpnPort } from './ports.ts'
import { formatMetrics } from './views/exposition.ts'
import { createLedgerTexts } from './views/ledger-text.ts'
import type { Scene } from './views/members.ts'
import { createRequestCounts, ledgerMetrics, networkMetrics } from './views/own-metrics.ts'

export interface ApiServerInit extends GuardInit {}

/** The API of one node, on any number of listeners. */
export interface ApiServer {
  /** @throws MeshError with a ListenErrorCode */
  listen(address: ListenAddress): Promise<ApiListener>
  /** The network, when it stands after the API does. Once. */
  attachNetwork(network: NetworkPort): void
  /** The VPN, when this node runs one: until then `/api/vpn` is 404. Once. */
  attachVpn(vpn: VpnPort): void
  /** What the node offers, once it has joined: until then `/api/node/...` is 503. Once. */
  attachOffers(offers: OffersPort): void
  /** Ends event streams, closes all listeners. Idempotent. */
  stop(): Promise<void>
}

/** Nothing listens until `listen`. */
export function createApiServer(init: ApiServerInit, components: ApiServerComponents): ApiServer {
  const { ledger, clock, random, assets } = components
  const logger = components.logger.child('api')
  const listeners = new Set<ApiListener>()
  const hub = createEventHub({ clock, random })
  const counts = createRequestCounts()
  const texts = createLedgerTexts(ledger)
  let network: NetworkPort | undefined
  let vpn: VpnPort | undefined
  let offers: OffersPort | undefined
  const scene = (): Scene => ({ snapshot: ledger.snapshot(), self: ledger.self, network, now: clock.now() })
  const startedAt = clock.now()
  const facts = (): NodeFactsView => ({
    Name: components.node?.name ?? '',
    PeerID: ledger.self,
    Network: components.node?.networkId ?? '',
    Instance: components.node?.instance ?? '',
    Listen: [...listeners].map(({ url }) => url),
    Version: components.version.version,
    StartedAt: new Date(startedAt).toISOString(),
    UptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAt) / 1_000)),
    HasVpn: components.node?.hasVpn ?? vpn !== undefined,
  })
  const exposition = () =>
    formatMetrics([
      ...ledgerMetrics(ledger),
      ...(network === undefined ? [] : networkMetrics(network)),
      counts.metric(),
      ...(components.metrics?.() ?? []),
    ])
  const handlers: Handlers = {
    ...createLedgerReads(scene, () => texts.last()),
    ...createLedgerWrites(ledger, clock, publishRefused(ledger, hub)),
    ...createNodeOffers(() => offers),
    ...createDnsReads(components.dns),
    ...createVpnReads({ scene, vpn: () => vpn, clock }),
    ...createPeerReads({ scene, clock }),
    ...createNodeReads({
      network: () => network,
      version: components.version,
      facts,
      health: withExposure(components.health, listeners),
      exposition,
    }),
  }
  const guard = createGuard(init)
  const writes = createRateLimiter(
    { perSecond: WRITES_PER_SECOND, burst: WRITE_BURST, maxAddresses: MAX_RATED_ADDRESSES },
    clock,
  )
  const appFor = (kind: 'tcp' | 'unix') =>
    createApp({ handlers, hub, guard, writes, counts, assets, logger, random }, kind === 'unix')
  const ends = [
    publishLedgerEvents(ledger, hub, clock),
    watchMachines(ledger, scene, hub, clock),
    ledger.subscribe((event) => event.type === 'committed' && texts.forget()),
  ]
  const attachNetwork = (port: NetworkPort) => {
    network = port
    ends.push(publishNetworkEvents(port, hub))
  }
  if (components.network !== undefined) attachNetwork(components.network)
  return {
    attachNetwork,
    attachVpn(port) {
      vpn = port
    },
    attachOffers(port) {
      offers = port
      ends.push(publishOfferEvents(port, hub))
    },
    async listen(address) {
      const opened = await openListener(address, { clock, random, appFor })
      const close = () => {
        listeners.delete(listener)
        return opened.close()
      }
      const listener: ApiListener = { ...opened, close }
      listeners.add(listener)
      logger.debug('api listens', { url: listener.url })
      if (listener.isExposed)
        logger.warn('anyone who reaches this address may read and write', { url: listener.url })
      return listener
    },
    async stop() {
      for (const end of ends.splice(0)) end()
      hub.stop()
      await Promise.all([...listeners].map((listener) => listener.close()))
    },
  }
}

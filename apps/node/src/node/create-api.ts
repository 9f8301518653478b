/** The API of this node, plugged into what it serves; the network joins later. */
import { hostname } from 'node:os'
import {
  type ApiListener,
  createApiServer,
  type ListenAddress,
  type OffersPort,
  type PeerProbe,
} from '@mesh/api-server'
import type { Clock, Logger, PeerId, Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { P2pMember } from '@mesh/p2p/node'
import type { Replicator } from '@mesh/replication'
import type { Egress, FileSharing, Proxy, Services } from '@mesh/services'
import type { Vpn } from '@mesh/vpn'
import { nameInForce } from '../settings/node-name.ts'
import { version } from '../version.ts'
import { createAssets } from './assets.ts'
import type { NodeInit } from './create-node.ts'
import { findProblems } from './health.ts'
import { readMetrics } from './metrics.ts'
import type { NodeDns } from './node-dns.ts'
import { createVpnPort } from './vpn-port.ts'

export interface NodeApiComponents {
  readonly ledger: Ledger
  readonly dns: NodeDns
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface NodeApi {
  listen(address: ListenAddress): Promise<ApiListener>
  /** The host listens: peers, traffic and their events are served from now on. */
  attach(p2p: P2pMember): void
  /** This node has a VPN, which may not stand yet. */
  attachVpn(vpn: Vpn): void
  /** Services of this node, which may not run yet. */
  attachServices(services: Services, files: FileSharing): void
  /** What it offers and connects to, once all that options name stands. */
  attachOffers(offers: OffersPort): void
  attachEgress(egress: Egress): void
  attachProxy(proxy: Proxy): void
  /** Replication runs: `/readyz` says so from now on. */
  setReplicator(replicator: Replicator): void
  stop(): Promise<void>
}

export function createApi(
  { settings, network, hasVpn }: Pick<NodeInit, 'settings' | 'network' | 'hasVpn'>,
  { ledger, dns, clock, random, log }: NodeApiComponents,
): NodeApi {
  const startedAt = clock.now()
  let p2p: P2pMember | undefined
  let replicator: Replicator | undefined
  let vpn: Vpn | undefined
  let services: Services | undefined
  let files: FileSharing | undefined
  let egress: Egress | undefined
  let proxy: Proxy | undefined
  const server = createApiServer(
    { allowedHosts: settings.apiAllowedHost, corsOrigins: settings.apiCors, ownNames: [hostname()] },
    {
      ledger,
      clock,
      random,
      logger: log,
      version: { version, protocols: () => p2p?.protocols() ?? [] },
      node: { name: nameInForce(settings), networkId: network.id, instance: settings.instance, hasVpn },
      health: {
        ready: () => replicator !== undefined,
        problems: () =>
          findProblems({
            now: clock.now(),
            startedAt,
            ledger,
            p2p,
            vpn,
            services,
            files,
            dns,
            bootstrapPeers: settings.discoveryBootstrapPeers.length,
          }),
      },
      metrics: () =>
        readMetrics({
          p2p,
          replication: replicator?.status(),
          vpn: vpn?.status(),
          services: services?.status(),
          files: files?.offers(),
          egress: egress?.status(),
          proxy: proxy?.status(),
          dns: dns.status(),
          version,
          uptimeSeconds: (clock.now() - startedAt) / 1_000,
          memory: process.memoryUsage(),
        }),
      dns,
      ...assetsOf(),
    },
  )
  return {
    listen: (address) => server.listen(address),
    attach(node) {
      p2p = node
      server.attachNetwork({
        members: () => node.topic.peers(),
        peers: () => node.peers(),
        probe: (peer, signal) => probePeer(node, peer, signal),
        traffic: node.bandwidth,
        subscribe: (listener) => node.subscribe(listener),
      })
    },
    attachVpn(made) {
      vpn = made
      server.attachVpn(createVpnPort(made))
    },
    attachOffers: (offers) => server.attachOffers(offers),
    attachServices(made, sharing) {
      services = made
      files = sharing
    },
    attachEgress(made) {
      egress = made
    },
    attachProxy(made) {
      proxy = made
    },
    setReplicator(running) {
      replicator = running
    },
    stop: () => server.stop(),
  }
}

/** @throws MeshError `p2p.unreachable` */
async function probePeer(node: P2pMember, peer: PeerId, signal: AbortSignal): Promise<PeerProbe> {
  await node.connect(peer, signal)
  const rttMs = await node.ping(peer, signal)
  const status = node.peer(peer)
  return { path: status?.path ?? 'direct', transport: status?.transport, rttMs }
}

function assetsOf() {
  const assets = createAssets()
  return assets === undefined ? {} : { assets }
}

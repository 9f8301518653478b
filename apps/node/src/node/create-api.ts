/** The API of this node, plugged into what it serves; the network joins later. */
import { hostname } from 'node:os'
import { type ApiListener, createApiServer, type ListenAddress } from '@mesh/api-server'
import type { Clock, Logger, Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { MeshNode } from '@mesh/p2p/node'
import type { Replicator } from '@mesh/replication'
import type { Vpn } from '@mesh/vpn'
import type { Settings } from '../settings/options.ts'
import { version } from '../version.ts'
import { createAssets } from './assets.ts'
import { findProblems } from './health.ts'
import { readMetrics } from './metrics.ts'
import type { NodeDns } from './node-dns.ts'

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
  attach(p2p: MeshNode): void
  /** This node has a VPN, which may not stand yet. */
  attachVpn(vpn: Vpn): void
  /** Replication runs: `/readyz` says so from now on. */
  setReplicator(replicator: Replicator): void
  stop(): Promise<void>
}

export function createApi(
  { settings }: { readonly settings: Settings },
  { ledger, dns, clock, random, log }: NodeApiComponents,
): NodeApi {
  const startedAt = clock.now()
  let p2p: MeshNode | undefined
  let replicator: Replicator | undefined
  let vpn: Vpn | undefined
  const server = createApiServer(
    { allowedHosts: settings.apiAllowedHost, corsOrigins: settings.apiCors, ownNames: [hostname()] },
    {
      ledger,
      clock,
      random,
      logger: log,
      version: { version, protocols: () => p2p?.protocols() ?? [] },
      health: {
        ready: () => replicator !== undefined,
        problems: () =>
          findProblems({
            now: clock.now(),
            startedAt,
            ledger,
            p2p,
            vpn,
            dns,
            bootstrapPeers: settings.discoveryBootstrapPeers.length,
          }),
      },
      metrics: () =>
        readMetrics({
          p2p,
          replication: replicator?.status(),
          vpn: vpn?.status(),
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
        members: () => node.room.peers(),
        peers: () => node.peers(),
        traffic: node.bandwidth,
        subscribe: (listener) => node.subscribe(listener),
      })
    },
    attachVpn(made) {
      vpn = made
      server.attachVpn(made)
    },
    setReplicator(running) {
      replicator = running
    },
    stop: () => server.stop(),
  }
}

function assetsOf() {
  const assets = createAssets()
  return assets === undefined ? {} : { assets }
}
